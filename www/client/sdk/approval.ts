// Approval of tool calls, and how long it lasts.
import type { ApprovalRequest as LowLevelRequest, PermissionOptions } from '../types/turnwise.js';
import type { ToolCallOf } from './parts.js';
import type { ReadTool, Tools, Touches } from './tool.js';

/**
 * A call that needs permission.
 *
 * @example
 * approve: ({ toolName, input, again }) => !again && confirm(`Run ${toolName} with ${JSON.stringify(input)}?`)
 */
export type ApprovalRequest<T extends Tools = Tools> = ToolCallOf<T> & {
  toolCallId: string;
  touches: readonly Touches[];
  /** Where the call sends something, if its tool says so: `api.example.com`. */
  destination?: string;
  /** The call was running when its page was closed, so its effect may already have happened. */
  again: boolean;
  /** What the call would change in files, as a unified diff; only of built-in tools. */
  diff?: string;
  /** The number of lines at the end that a diff of more than 8 MiB leaves out. */
  omittedLines?: number;
  /** The host that the call goes to, if that is known: an answer can be for it. */
  host?: string;
};

/**
 * `for`: how far the answer reaches: this call, every call of the tool to this host in this run, every call of the tool in this run, or every call of this run that would ask. Default: this call.
 *
 * @example
 * approve: () => ({ allow: true, for: 'run' }) // and do not ask again in this run
 */
export type Approval = boolean | { allow: boolean; for?: 'call' | 'host' | 'tool' | 'run' };

/**
 * A function that decides, or `'all'` to approve every call. `signal` is aborted when the question needs no answer any more.
 *
 * @example
 * const approve: Approve = ({ toolName }) => toolName !== 'delete_account';
 */
export type Approve = 'all' | ((request: ApprovalRequest, options: { signal: AbortSignal }) => Approval | Promise<Approval>);

/**
 * Returns the function that the engine calls, in the order of the calls; `undefined` if nobody answers its questions. Awaits `before`
 * before it asks. @internal
 */
export function approver(
  approve: Approve | undefined, tools: ReadonlyMap<string, ReadTool>, permissions: PermissionOptions = {}, before?: () => Promise<void>,
): 'all' | ((request: LowLevelRequest, options: { signal: AbortSignal }) => Approval | Promise<Approval>) | undefined {
  if (approve === 'all') return 'all';
  const question: Exclude<Approve, 'all'> | undefined = approve;
  const { workspace, tools: rules = {} } = permissions;
  const own = [...tools.values()].some(({ low }) => low.sideEffect !== 'none' && low.sideEffect !== 'workspace');
  if (!question && !own) return undefined;
  const answered = new Map<string, boolean>();
  const destinations = new Map<string, Promise<boolean>>();
  // Each call has its turn when all before it have asked, or will not, however long their tools take to say so.
  let last: Promise<unknown> = Promise.resolve();
  return (request, options) => {
    const turn = last;
    let leave!: () => void;
    last = Promise.all([turn, new Promise<void>((resolve) => { leave = resolve; })]);
    options.signal.addEventListener('abort', leave, { once: true });
    return decide(request, options, turn, leave).finally(leave);
  };

  async function decide(
    { id, name, args, sideEffect, again, diff, omittedLines, host }: LowLevelRequest, options: { signal: AbortSignal }, turn: Promise<unknown>, leave: () => void,
  ): Promise<Approval> {
    const outer = tools.get(name);
    // A tool that calls another one asks as that one, and an answer for "this tool" is for that one.
    const inner = await outer?.delegate?.(args);
    // It fails without an effect.
    if (inner && !inner.tool) return true;
    const { name: toolName, input, tool } = inner ?? { name, input: args as unknown, tool: outer };
    const touches = tool?.touches ?? (sideEffect === 'none' ? [] : [sideEffect]);
    const rule = rules[toolName] ?? (inner && rules[name]);
    if (inner && rule === 'deny') return false;
    if (inner && !again && (rule === 'allow' || (!rule && touches.length > 0 && touches.every((one) => permissions[one] === 'allow')))) return true;
    // The rules of the agent have decided that this call asks; a tool of the page may still say that it need not.
    const asks = tool && !rule ? await tool.asks(input) : sideEffect !== 'workspace' || workspace === 'ask' || rule === 'ask';
    if (!asks && !again) return true;
    if (!question) return false;
    const destination = tool?.destination(input);
    await turn;
    await before?.();
    const ask = async (): Promise<Approval> => {
      if (inner && !again && answered.has(toolName)) return answered.get(toolName)!;
      const asked = question({
        toolCallId: id, toolName, input, touches, again, ...(destination !== undefined && { destination }), ...(diff !== undefined && { diff }), ...(omittedLines !== undefined && { omittedLines }), ...(host !== undefined && { host }),
      }, options);
      leave();
      const answer = await asked;
      if (!inner || typeof answer !== 'object' || answer?.for !== 'tool') return answer;
      answered.set(toolName, answer.allow === true);
      return answer.allow === true;
    };
    if (asks !== 'once' || again) return ask();
    // One question for each destination at a time: the others wait for its answer.
    const key = destination === undefined ? `tool ${toolName}` : `to ${destination}`;
    const earlier = destinations.get(key);
    let end!: (allowed: boolean) => void;
    destinations.set(key, new Promise((resolve) => { end = resolve; }));
    let allowed = false;
    try {
      leave();
      if (await earlier) return allowed = true;
      if (options.signal.aborted) return false;
      const answer = await ask();
      allowed = answer === true || (typeof answer === 'object' && answer?.allow === true);
      return answer;
    } finally {
      end(allowed);
    }
  }
}
