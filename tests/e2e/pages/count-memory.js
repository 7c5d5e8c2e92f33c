// Exposes the memory of the module that this worker starts, as `engineMemory`.
for (const name of ['instantiate', 'instantiateStreaming']) {
  const plain = WebAssembly[name];
  WebAssembly[name] = async (...given) => {
    const made = await plain.apply(WebAssembly, given);
    globalThis.engineMemory = (made.instance ?? made).exports.memory;
    return made;
  };
}
