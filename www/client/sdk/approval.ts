// Approval of tool calls, and how long it lasts.
import type { ApprovalRequest as LowLevelRequest } from '../types/turnwise.js';
import type { ReadTool, Touches } from './tool.js';

/** A call that needs permission. */
export interface ApprovalRequest {
  toolCallId: string;
  toolName: string;
  input: any;
  touches: readonly Touches[];
  /** The call was running when its page was closed, so its effect may already have happened. */
  again: boolean;
}

/** `for`: the scope of the approval. Default: this call. */
export type Approval = boolean | { allow: boolean; for?: 'call' | 'tool' | 'run' };

/** A function that decides, or `'all'` to approve every call. */
export type Approve = 'all' | ((request: ApprovalRequest) => Approval | Promise<Approval>);

/** Returns the function that the engine calls; `undefined` if calls that touch the network or the page are to be refused. */
export function approver(approve: Approve | undefined, tools: ReadonlyMap<string, ReadTool>): 'all' | ((request: LowLevelRequest) => Promise<boolean>) | undefined {
  if (approve === 'all') return 'all';
  /** Approvals with a scope beyond their call. */
  const granted = new Set<string>();
  let all = false;
  const own = [...tools.values()].some(({ low }) => low.sideEffect !== 'none' && low.sideEffect !== 'workspace');
  if (!approve && !own) return undefined;
  return async ({ id, name, args, sideEffect, again }) => {
    const tool = tools.get(name);
    const touches = tool?.touches ?? [sideEffect];
    const asks = tool ? await tool.asks(args) : sideEffect !== 'workspace';
    if ((!asks && !again) || all || granted.has(name)) return true;
    if (!approve) return false;
    const answer = await approve({ toolCallId: id, toolName: name, input: args, touches, again });
    const { allow, for: reach = 'call' } = typeof answer === 'object' && answer !== null ? answer : { allow: answer === true };
    if (allow && reach === 'run') all = true;
    if (allow && reach === 'tool') granted.add(name);
    return allow;
  };
}
