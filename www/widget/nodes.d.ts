// What the package uses of nodes.js.
import type { MarkdownNode } from '../client/types/records.js';

type Nodes = readonly (MarkdownNode | { written: string })[];
export function written(text: string): Nodes;
export function nodesOf(text: string, render: (text: string) => Promise<Nodes>): Promise<Nodes>;
export function show(parent: Element, nodes: Nodes, where: { base: string; newTab?: () => boolean; bare?: boolean; plain?: boolean; pictures?: boolean }): void;
