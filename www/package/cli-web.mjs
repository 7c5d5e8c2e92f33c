// The options of `turnwise run` for the tools that reach the web.
import { SAFE_TOOLS } from './node.js';

/** Hosts by the flag, the key of a search service by the environment. `fault` reports what is wrong. */
export function reach(flag, { tools, permissions, web }, fault) {
  const { apiKeyEnv: name, ...search } = web?.search ?? {};
  if (search.apiKey !== undefined) fault('the key of a search service is read from the environment only: take "apiKey" out of "web.search", and name the variable in "apiKeyEnv"');
  if (name !== undefined && !process.env[name]) fault(`the environment variable ${name} is not set`);
  const searching = web?.search && { web: { ...web, search: { ...search, ...(name !== undefined && { apiKey: process.env[name] }) } } };
  if (flag === undefined) return { ...searching };
  const hosts = Object.fromEntries(flag.split(',').map((host) => [host.trim(), 'allow']));
  return { ...searching, tools: [...new Set([...(tools ?? SAFE_TOOLS), 'fetch_url'])], permissions: { ...permissions, hosts: { ...permissions?.hosts, ...hosts } } };
}
