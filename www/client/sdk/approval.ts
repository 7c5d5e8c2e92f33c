// Approval of tool calls, and how long it lasts.
import type { ApprovalRequest as LowLevelRequest, PermissionOptions } from '../types/turnwise.js';
import type { ReadTool, Touches } from './tool.js';

/** A call that needs permission. */
export interface ApprovalRequest {
  toolCallId: string;
  toolName: string;
  input: any;
  touches: readonly Touches[];
  /** The call was running when its page was closed, so its effect may already have happened. */
  again: boolean;
  /** What the call would change in files, as a unified diff; only of built-in tools. */
  diff?: string;
  /** The number of lines at the end that a diff of more than 8 MiB leaves out. */
  omittedLines?: number;
  /** The host that the call goes to, if that is known: an answer can be for it. */
  host?: string;
}

/** `for`: how far the answer reaches: this call, every call of the tool to this host in this run, every call of the tool in this run, or every call of this run that would ask. Default: this call. */
export type Approval = boolean | { allow: boolean; for?: 'call' | 'host' | 'tool' | 'run' };

/** A function that decides, or `'all'` to approve every call. `signal` is aborted when the question needs no answer any more. */
export type Approve = 'all' | ((request: ApprovalRequest, options: { signal: AbortSignal }) => Approval | Promise<Approval>);

/** Returns the function that the engine calls; `undefined` if nobody answers its questions. */
export function approver(
  approve: Approve | undefined, tools: ReadonlyMap<string, ReadTool>, { workspace, tools: rules = {} }: PermissionOptions = {},
): 'all' | ((request: LowLevelRequest, options: { signal: AbortSignal }) => Approval | Promise<Approval>) | undefined {
  if (approve === 'all') return 'all';
  const own = [...tools.values()].some(({ low }) => low.sideEffect !== 'none' && low.sideEffect !== 'workspace');
  if (!approve && !own) return undefined;
  return async ({ id, name, args, sideEffect, again, diff, omittedLines, host }, options) => {
    const tool = tools.get(name);
    const touches = tool?.touches ?? (sideEffect === 'none' ? [] : [sideEffect]);
    // The rules of the agent have decided that this call asks; a tool of the page may still say that it need not.
    const asks = tool && !rules[name] ? await tool.asks(args) : sideEffect !== 'workspace' || workspace === 'ask' || rules[name] === 'ask';
    if (!asks && !again) return true;
    if (!approve) return false;
    return approve({ toolCallId: id, toolName: name, input: args, touches, again, ...(diff !== undefined && { diff }), ...(omittedLines !== undefined && { omittedLines }), ...(host !== undefined && { host }) }, options);
  };
}
