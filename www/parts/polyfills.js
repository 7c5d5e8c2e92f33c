// What pdf.js uses and Node.js 20 lacks, beyond what its build for older browsers brings. Imported before it.
Promise.withResolvers ??= function withResolvers() {
  let [resolve, reject] = [];
  const promise = new this((done, failed) => { [resolve, reject] = [done, failed]; });
  return { promise, resolve, reject };
};
