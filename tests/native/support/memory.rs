//! A workspace in memory, and a call of a built-in tool over it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use turnwise::engine::EpochMillis;
use turnwise::tools::files::{FileInfo, Files};
use turnwise::tools::{Index, run};

#[derive(Default)]
pub struct Memory {
    pub infos: BTreeMap<String, FileInfo>,
    pub contents: BTreeMap<String, Vec<u8>>,
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

    fn write(&mut self, path: String, content: String) {
        self.put(&path, content.as_bytes());
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
    now(run(name, &args, files, &mut Index::default(), EpochMillis(0)))
}
