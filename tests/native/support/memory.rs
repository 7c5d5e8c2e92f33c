//! A workspace in memory, and a call of a built-in tool over it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};
use turnwise_engine::EpochMillis;
use turnwise_files::encoding::DecodedText;
use turnwise_files::{Engine, FileInfo, Files};
use turnwise_tools::{FileIndex, run};

#[derive(Default)]
pub struct Memory {
    pub infos: BTreeMap<String, FileInfo>,
    pub contents: BTreeMap<String, Vec<u8>>,
    /// What the SQL engine will be asked, as far as it matters, and what it answers.
    pub sql: RefCell<VecDeque<(Value, Value)>>,
}

impl Memory {
    pub fn with(files: &[(&str, &[u8])]) -> Self {
        let mut memory = Memory::default();
        for (path, content) in files {
            memory.put(path, content);
        }
        memory
    }

    pub fn put(&mut self, path: &str, content: &[u8]) {
        let version = self.infos.len() as u64 + 1;
        self.infos.insert(path.into(), FileInfo { version, size: content.len() as u64 });
        self.contents.insert(path.into(), content.into());
    }

    pub fn text(&self, path: &str) -> &str {
        std::str::from_utf8(&self.contents[path]).unwrap()
    }
}

impl Files for Memory {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.contents.get(path).cloned().ok_or_else(|| "gone".into())
    }

    async fn decode(&self, bytes: &[u8], label: Option<&str>) -> Result<DecodedText, String> {
        Ok(turnwise_encoding::decode(bytes, label))
    }

    async fn encode(&self, text: &str, encoding: &str) -> Result<Result<Vec<u8>, char>, String> {
        Ok(turnwise_encoding::encode(text, encoding))
    }

    fn write(&mut self, path: String, content: Vec<u8>) {
        self.put(&path, &content);
    }

    /// `jq` as in its part of the worker; SQL by a script, which is strict.
    fn ask(&self, engine: Engine, request: &str, paths: &[&str]) -> impl Future<Output = Result<String, String>> {
        ready(match engine {
            Engine::Jq => {
                let request: Value = serde_json::from_str(request).unwrap();
                let format = serde_json::from_value(request["save"].clone()).unwrap();
                let found = turnwise_jq::run(request["filter"].as_str().unwrap(), self.text(paths[0]), format);
                Ok(found.map_or_else(|fault| json!({ "fault": fault }).to_string(), |found| json!(found).to_string()))
            }
            Engine::Sql => {
                let (expected, answer) =
                    self.sql.borrow_mut().pop_front().expect("the engine is asked more often than expected");
                let mut request: Value = serde_json::from_str(request).unwrap();
                request["paths"] = json!(paths);
                for (key, value) in expected.as_object().unwrap() {
                    assert_eq!(&request[key], value, "{key}");
                }
                Ok(answer.to_string())
            }
        })
    }
}

/// Polls a future once; nothing here ever waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a tool waited for nothing"),
    }
}

#[allow(clippy::needless_pass_by_value)] // reads better at the call sites
pub fn call<F: Files>(files: &mut F, name: &str, args: Value) -> Result<String, String> {
    now(run(name, &args, files, &mut FileIndex::default(), EpochMillis(0)))
}
