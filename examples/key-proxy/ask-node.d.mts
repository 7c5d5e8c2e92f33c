interface Reply {
  status: number;
  url: string;
  headers: { get(name: string): string | null };
  body: AsyncIterable<Uint8Array>;
}
export function send(question: { url: URL; signal: AbortSignal; method?: string; headers?: Record<string, string>; body?: string; named: boolean }): Promise<Reply>;
