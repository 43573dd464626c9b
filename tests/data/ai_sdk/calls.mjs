// Makes calls with the AI SDK and says what it would have sent, or what it made of the answer.
// Jobs come in as JSON: bytes as {"$bytes": base64}, addresses as {"$url": …}, schemas as
// {"$schema": …}. Nothing leaves this process: each job holds the answer that it gets.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.argv[2] + '/');
const load = name => import(pathToFileURL(require.resolve(name)));
const { generateText, streamText, jsonSchema, Output, tool } = await load('ai');
const makers = {
  gateway: async o => (await load('@ai-sdk/gateway')).createGateway(o),
  openai: async o => (await load('@ai-sdk/openai')).createOpenAI(o).responses,
  anthropic: async o => (await load('@ai-sdk/anthropic')).createAnthropic(o),
  google: async o => (await load('@ai-sdk/google')).createGoogle(o),
  xai: async o => (await load('@ai-sdk/xai')).createXai(o).responses,
};

function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (value === null || typeof value !== 'object') return value;
  if ('$bytes' in value) return new Uint8Array(Buffer.from(value.$bytes, 'base64'));
  if ('$url' in value) return new URL(value.$url);
  if ('$schema' in value) return jsonSchema(value.$schema);
  if ('$object' in value) return Output.object({ ...revived(value.$object) });
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, revived(v)]));
}

function counts(usage) {
  const { inputTokens, outputTokens, inputTokenDetails: read, outputTokenDetails: said } = usage;
  return [inputTokens, outputTokens, read.cacheReadTokens, said.reasoningTokens];
}

async function done(job) {
  const sent = [];
  const fetch = async (url, init) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    sent.push({ url: String(url), headers, body: JSON.parse(init.body) });
    const type = job.stream ? 'text/event-stream' : 'application/json';
    return new Response(job.answer, { status: job.status ?? 200, headers: { 'content-type': type } });
  };
  const make = await makers[job.provider]({ apiKey: 'key', fetch, ...(job.settings ?? {}) });
  if (job.kind !== undefined) {
    // A model of another kind, as the SDK calls it.
    const other = make[`${job.kind}Model`](job.model);
    const made = await (other.doEmbed ?? other.doRerank).call(other, job.call);
    return { sent, made };
  }
  const model = make(job.model);
  if (job.low) {
    // The model itself, as the SDK calls it: for tools, whose definitions are checked there.
    await model.doGenerate(revived(job.call)).catch(() => undefined);
    return { sent };
  }
  const call = { model, maxRetries: 0, ...revived(job.call) };
  for (const [name, given] of Object.entries(call.tools ?? {})) {
    if (given.type === undefined) call.tools[name] = tool(given);
  }
  try {
    const result = job.stream ? streamText({ ...call, onError() {} }) : await generateText(call);
    const made = {
      text: await result.text,
      reasoning: (await result.reasoningText) ?? '',
      calls: (await result.toolCalls).map(c => [c.toolCallId, c.toolName, c.input]),
      sources: (await result.sources).map(s => s.url ?? s.title),
      reason: [await result.finishReason, await result.rawFinishReason],
      usage: counts(await result.usage),
      response: [(await result.response).id, (await result.response).modelId],
      metadata: (await result.providerMetadata) ?? null,
    };
    return { sent, made };
  } catch (error) {
    const { name, statusCode, isRetryable, generationId } = error;
    return { sent, error: { name, statusCode, isRetryable, generationId } };
  }
}

globalThis.AI_SDK_LOG_WARNINGS = false;
const jobs = JSON.parse(readFileSync(0, 'utf8'));
const results = [];
for (const job of jobs) results.push(await done(job));
process.stdout.write(JSON.stringify(results));
