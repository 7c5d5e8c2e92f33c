// The class `LowLevelAgent`: checks the page's arguments, and represents one agent of the worker. It keeps the agent's options, tools
// and files, so that the agent can be reopened on another worker.
import { disposable, keep, release } from './lifetime';
import { host, link, writers } from './engine';
import { Files } from './files';
import type { HostedAgent } from './host';
import type { Hearing, Part } from './link';
import type { Complete } from './model';
import { recordText } from './check';
import { agentOptions, branchOptions, grantOptions, hostTool, listening, planOptions, planValue, runOptions, taskText, turnCount } from './options';
import type { Execute, Provider, Run } from './options';
import type { AgentId, Approver, AgentOptions, Asks, Told, TrajectorySkill, TrajectoryTool } from './protocol';

const BUSY = 'this agent has a run under way: wait for it, cancel it, or make another agent';
const CLOSED = 'this agent was freed';

let ids: AgentId = 0;

/** Whether this is the last event of a run or a plan. The agent is free after it: the page may start the next run in its event handler. */
const isLast = ({ type, step }: Told) => type === 'plan_finished' || (step === undefined && (type === 'agent_finished' || type === 'agent_failed'));

/** The state of an agent. The page can drop the `LowLevelAgent` itself while a run is in progress. */
class AgentState implements HostedAgent {
  readonly id = (ids += 1);
  readonly tools = new Map<string, { spec: TrajectoryTool; execute: Execute }>();
  readonly files: Files;
  approve: HostedAgent['approve'];
  readonly web: HostedAgent['web'];
  readonly hosts: HostedAgent['hosts'];
  #options: AgentOptions;
  #providers: Provider[];
  #skills: TrajectorySkill[] = [];
  /** The worker on which it is open. */
  #generation = 0;
  #busy: object | undefined;
  #freed = false;
  /** Unanswered requests. */
  #open = 0;

  constructor(given: unknown) {
    const { options, providers, web, hosts } = agentOptions(given);
    this.#options = options;
    this.web = web;
    this.hosts = hosts;
    this.#providers = providers;
    this.files = new Files((files, blobs) => {
      if (link.knows(this.#generation)) link.tell('files', { agent: this.id, files }, blobs);
    });
    host.add(this.id, this);
    writers.set(this.id, (changes, blob) => Files.wrote(this.files, changes, blob));
    link.enter();
    link.warm();
  }

  model(provider: number): Complete | Promise<Complete> {
    return this.#providers[provider]?.complete ?? import('./prompt-api').then(({ complete }) => complete);
  }

  register(given: unknown) {
    const tool = hostTool(given);
    this.tools.set(tool.spec.name, tool);
    if (link.knows(this.#generation)) link.tell('tool', { agent: this.id, tool: tool.spec });
  }

  unregister(name: string) {
    if (this.tools.delete(name) && link.knows(this.#generation)) link.tell('untool', { agent: this.id, name });
  }

  /** From the next run on. */
  skills(given: TrajectorySkill[]) {
    this.#skills = given;
    if (link.knows(this.#generation)) link.tell('skills', { agent: this.id, skills: given });
  }

  async run(task: unknown, options: unknown) {
    const given = runOptions(options);
    const { after, images = [], history } = given;
    const text = taskText(task, images.length);
    return this.#begin('run', given, 'nobody', (how) => ({ agent: this.id, task: text, images, after: after !== undefined, history, how }), after);
  }

  async resume(trajectory: unknown, options: unknown) {
    return this.#begin('resume', grantOptions(options), 'nobody', (how) => ({ agent: this.id, how }), recordText('a trajectory')(trajectory, 'trajectory'));
  }

  async branch(trajectory: unknown, options: unknown) {
    const { given, wish } = branchOptions(options);
    const text = recordText('a trajectory')(trajectory, 'trajectory');
    return this.#begin('branch', given, 'nobody', (how) => ({ agent: this.id, how }), `{"trajectory":${text},${JSON.stringify(wish).slice(1)}`.replace(/,}$/, '}'));
  }

  async checkpoint() {
    return this.#generation && link.knows(this.#generation) ? (await link.ask('checkpoint', { agent: this.id })) ?? undefined : undefined;
  }

  async grant(turns: unknown, options: unknown) {
    const count = turnCount(turns, 'turns');
    return this.#begin('grant', grantOptions(options), 'same', (how) => ({ agent: this.id, turns: count, how }));
  }

  async plan(plan: unknown, options: unknown) {
    const value = planValue(plan);
    const given = planOptions(options);
    const { after, parallel, from } = given;
    return this.#begin('plan', given, 'nobody', (how) => ({ agent: this.id, plan: value, parallel, from, after: after !== undefined, how }), after);
  }

  say(what: 'stop' | 'cancel') {
    if (this.#busy && link.knows(this.#generation)) link.tell(what, { agent: this.id });
  }

  /** A run in progress still finishes, and its promise settles. */
  close() {
    if (this.#freed) return;
    this.#freed = true;
    if (link.knows(this.#generation)) link.tell('close', { agent: this.id });
    link.leave();
    this.#rest();
  }

  /** Opens the agent on the current worker, if it is not open there. */
  #wake() {
    const generation = link.wake();
    if (generation === this.#generation) return;
    this.#generation = generation;
    const agent = this.id;
    link.tell('open', { agent, options: this.#options });
    for (const { spec } of this.tools.values()) link.tell('tool', { agent, tool: spec });
    if (this.#skills.length) link.tell('skills', { agent, skills: this.#skills });
    const [files, blobs] = Files.all(this.files);
    if (files.length) link.tell('files', { agent, files }, blobs);
  }

  async #begin<N extends 'run' | 'resume' | 'branch' | 'grant' | 'plan'>(name: N, given: Run, otherwise: Approver, message: (how: Asks[N]['how']) => Asks[N], after?: string) {
    if (this.#freed) throw new Error(CLOSED);
    if (this.#busy) throw new Error(BUSY);
    const { onEvent, signal, approve } = given;
    if (name !== 'grant' || approve !== undefined) this.approve = typeof approve === 'function' ? approve : undefined;
    const run = (this.#busy = {});
    const end = () => {
      if (this.#busy === run) this.#busy = undefined;
    };
    // Cancels only this run: the page may already have started the next one.
    const cancel = () => {
      if (this.#busy === run) this.say('cancel');
    };
    this.#open += 1;
    try {
      this.#wake();
      const parts: Part[] = after === undefined ? [] : [after];
      const answer = link.ask(name, message(listening(given, otherwise)), parts, onEvent && hearing(onEvent, end));
      signal?.addEventListener('abort', cancel);
      if (signal?.aborted) cancel();
      return await answer;
    } finally {
      signal?.removeEventListener('abort', cancel);
      end();
      this.#open -= 1;
      this.#rest();
    }
  }

  /** Removes the agent from the host once it is freed and nothing is pending: the page gets no more requests. */
  #rest() {
    if (!this.#freed || this.#open) return;
    host.remove(this.id);
    writers.delete(this.id);
  }
}

/** Wraps the page's listener: an error in it does not stop the run. */
function hearing(onEvent: (event: any) => void, end: () => void): Hearing {
  let last: { turn?: number; callsLeft: number } = { callsLeft: 0 };
  const tell = (event: object) => {
    try {
      onEvent(event);
    } catch (error) {
      console.error('turnwise: onEvent threw', error);
    }
  };
  return {
    events: (events) => {
      for (const event of events) {
        last = event;
        if (isLast(event)) end();
        tell(event);
      }
    },
    lost: (message) => {
      end();
      tell({ type: 'worker_lost', turn: last.turn ?? 0, callsLeft: last.callsLeft, message });
    },
  };
}

export class LowLevelAgent {
  #own: AgentState;
  declare readonly [Symbol.dispose]: () => void;

  constructor(options?: unknown) {
    this.#own = new AgentState(options);
    keep(this, this.#own);
  }

  get files(): Files {
    return this.#own.files;
  }

  run(task: string, options?: object): Promise<any> {
    return this.#own.run(task, options);
  }

  resume(trajectory: object, options?: object): Promise<any> {
    return this.#own.resume(trajectory, options);
  }

  branch(trajectory: object, options?: object): Promise<any> {
    return this.#own.branch(trajectory, options);
  }

  checkpoint(): Promise<any> {
    return this.#own.checkpoint();
  }

  grantTurns(turns: number, options?: object): Promise<any> {
    return this.#own.grant(turns, options);
  }

  runPlan(plan: object, options?: object): Promise<any> {
    return this.#own.plan(plan, options);
  }

  registerTool(tool: object) {
    this.#own.register(tool);
  }

  removeTool(name: string) {
    this.#own.unregister(name);
  }

  setSkills(skills: TrajectorySkill[]) {
    this.#own.skills(skills);
  }

  stop() {
    this.#own.say('stop');
  }

  cancel() {
    this.#own.say('cancel');
  }

  free() {
    release(this, this.#own);
  }
}
disposable(LowLevelAgent.prototype);
