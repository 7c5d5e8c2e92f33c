// Vercel's AI SDK with its OpenAI-compatible provider.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import { ECHO, MODEL, SYSTEM, TASK, echo } from './common.js';

window.runAgent = async ({ baseUrl, turns }) => {
  const provider = createOpenAICompatible({ name: 'bench', apiKey: 'none', baseURL: baseUrl });
  const result = streamText({
    model: provider.chatModel(MODEL),
    instructions: SYSTEM,
    prompt: TASK,
    stopWhen: isStepCount(turns + 2),
    maxRetries: 0,
    tools: { echo: tool({ description: ECHO.description, inputSchema: jsonSchema(ECHO.parameters), execute: async (args) => echo(args) }) },
    onError: ({ error }) => { throw error; },
  });
  let length = 0;
  for await (const piece of result.textStream) length += piece.length;
  const steps = await result.steps;
  window.kept = steps;
  return { turns: steps.length - 1, text: await result.text };
};
