// On the server the package is loaded from node_modules: bundled, its built-in tools would lack their worker's files.
export default { serverExternalPackages: ['turnwise'] };
