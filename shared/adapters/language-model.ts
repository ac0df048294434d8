import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  generateText,
  JSONParseError,
  jsonSchema,
  type ModelMessage as Message,
  RetryError,
  type ToolCallPart,
  type ToolSet,
  TypeValidationError,
  tool,
} from 'ai'
import { isObject } from '../kernel/json-schema/json-object.ts'
import { LIMITS } from '../kernel/limits.ts'
import type { ModelPrice, ModelPrices } from '../kernel/model-prices.ts'
import type {
  LanguageModel,
  ModelAnswer,
  ModelCall,
  ModelFailure,
  ModelMessage,
  ModelRequest,
  ProviderParts,
} from '../kernel/ports/language-model.ts'
import { timeLimitSignal } from '../kernel/time-limit.ts'
import type { TokenUsage } from '../kernel/token-usage.ts'
import { outgoingTraceHeaders } from '../kernel/tracing/scope.ts'
import { ERROR_IN_BODY, type KnownForms, turnFetch, UnusableResponse } from './model-response.ts'

export interface LanguageModelOptions {
  key: () => Promise<string | undefined>
  /** Base URL of an OpenAI-compatible API, without a trailing slash. */
  apiUrl: string | undefined
  /** Model for requests that name none. */
  name: string | undefined
  /** Prices by model, if the operator gave them. */
  prices?: ModelPrices
  /** False for a server that can't stream. */
  isStreamed?: boolean
  /** Deadline for one turn including retries, in ms. */
  deadlineMs?: number
}

/** Retries of a turn after 408, 409, 429, 5xx or a connection failure. `Retry-After` is respected up to a minute. */
const RETRIES = 2

/** Characters stored of a provider's error response. */
const SHOWN_BODY = 1_000

/**
 * Creates a language model client for any OpenAI-compatible API, over the AI SDK. Turns are taken one by one. The
 * platform decides who executes the tools, and how often.
 */
export const createLanguageModel = (options: LanguageModelOptions): LanguageModel => {
  const { key, apiUrl, name, prices = {}, isStreamed = true, deadlineMs = LIMITS.modelTurn } = options
  const forms: KnownForms = new Map()
  return {
    name,
    async turn(request) {
      const apiKey = apiUrl === undefined ? undefined : await key()
      const model = request.model ?? name
      if (apiUrl === undefined || apiKey === undefined || model === undefined) return { kind: 'not_configured' }
      // The library prints its warnings, which would become separate lines in the logs.
      globalThis.AI_SDK_LOG_WARNINGS = false
      const { onText } = request
      const fetch = turnFetch({
        isStreamed,
        forms,
        onText: onText && ((readText) => onText(() => textSoFar(readText()))),
      })
      const provider = createOpenAICompatible({ name: 'model', baseURL: apiUrl, apiKey, fetch })
      const deadline = timeLimitSignal(deadlineMs)
      try {
        const result = await generateText({
          model: provider(model),
          instructions: request.instructions,
          messages: request.messages.map(messageOf),
          tools: toolsOf(request),
          // Proxies and servers of models continue the trace, so that their own spans join it.
          headers: outgoingTraceHeaders(false),
          maxRetries: RETRIES,
          abortSignal: AbortSignal.any([request.signal, deadline]),
        })
        return {
          kind: 'answer',
          text: withoutThoughts(result.text),
          calls: result.toolCalls.map(callOf),
          ...(result.toolCalls.length > 0 && { provider: providerPartsOf(result) }),
          ...endOf(result),
          usage: priced(usageOf(request, result), prices[model]),
        }
      } catch (error) {
        if (deadline.aborted)
          return { kind: 'failure', message: `The model did not answer within ${deadlineMs / 1_000} s.` }
        return failureOf(error, apiKey)
      }
    },
  }
}

type Result = Awaited<ReturnType<typeof generateText<ToolSet>>>

/** Words of providers for an answer that is whole. An absent one is good as well: an empty answer is refused elsewhere. */
const WHOLE = new Set([
  'stop',
  'tool_calls',
  'function_call',
  'end_turn',
  'tool_use',
  'stop_sequence',
  'eos',
  'eos_token',
])

/** Words for an answer that reached its maximum length. */
const CUT = new Set(['length', 'max_tokens', 'model_length'])

const endOf = ({ finishReason, rawFinishReason }: Result): Pick<ModelAnswer, 'end' | 'finishReason'> => {
  if (rawFinishReason === undefined) return { end: finishReason === 'content-filter' ? 'refused' : 'whole' }
  const word = rawFinishReason.toLowerCase()
  const own = { finishReason: rawFinishReason.slice(0, 100).toWellFormed() }
  if (finishReason === 'content-filter') return { end: 'refused', ...own }
  if (WHOLE.has(word)) return { end: 'whole', ...own }
  return { end: CUT.has(word) ? 'length' : 'broken', ...own }
}

/**
 * Removes the thoughts that a server without a reasoning parser leaves in the text: in tags at its beginning, or without the first
 * tag if the prompt's template holds it.
 */
const withoutThoughts = (text: string): string =>
  text.replace(/^\s*<think>[\s\S]*?(?:<\/think>\s*|$)/, '').replace(/^(?:(?!<think>)[\s\S])*?\n<\/think>\s*\n/, '')

/** Start of the text in which thoughts may still begin, and beginnings of answers in JSON, which nobody can read before they end. */
const UNREADABLE = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k>?)?)?)?)?)?|\{.*|`{1,2}|```(?:j(?:s(?:on?)?)?)?(?:\s.*)?)?$/s

/** Returns what can be shown of a text that is still being written. */
const textSoFar = (text: string): string => {
  const shown = withoutThoughts(text)
  return UNREADABLE.test(shown) ? '' : shown
}

/**
 * Counts what is billed. Some providers leave the reasoning out of `completion_tokens` and count it in `total_tokens` only. Without
 * any usage, four bytes of text count as a token.
 */
const usageOf = (request: ModelRequest, { usage, text, toolCalls }: Result): TokenUsage => {
  const { inputTokens: input, outputTokens: output, raw } = usage
  if (input === undefined || (input === 0 && output === 0)) {
    const { signal: _signal, onText: _onText, ...sent } = request
    return { input_tokens: estimate(sent), output_tokens: estimate([text, toolCalls]), estimated: true }
  }
  const total = Number(raw?.total_tokens ?? 0)
  const billed = Math.max(output ?? 0, total - input)
  const cached = usage.inputTokenDetails.cacheReadTokens
  const reasoning = usage.outputTokenDetails.reasoningTokens || billed - (output ?? 0)
  return {
    input_tokens: input,
    output_tokens: billed,
    ...(cached && { cached_tokens: cached }),
    ...(reasoning && { reasoning_tokens: reasoning }),
  }
}

const estimate = (value: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4)

const priced = (usage: TokenUsage, price: ModelPrice | undefined): TokenUsage => {
  if (!price) return usage
  const { input_tokens, output_tokens, cached_tokens = 0 } = usage
  const { input, output, cached = input } = price
  const millionths = (input_tokens - cached_tokens) * input + cached_tokens * cached + output_tokens * output
  return { ...usage, cost_usd: millionths / 1_000_000 }
}

/** The provider-specific parts that the library returns: reasoning, and options of each call. */
interface Kept {
  reasoning: string
  calls: (ToolCallPart['providerOptions'] | null)[]
}

/** Collects what Gemini and thinking models want back: `reasoning_content`, `extra_content.google.thought_signature`. */
const providerPartsOf = ({ reasoningText, toolCalls }: Result): ProviderParts => ({
  reasoning: reasoningText ?? '',
  calls: toolCalls.map(({ providerMetadata }) => providerMetadata ?? null),
})

/** Declares tools without an execute function. The library then returns the calls instead. */
const toolsOf = ({ tools }: ModelRequest): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema) }),
    ]),
  )

const messageOf = (message: ModelMessage): Message => {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text }
    case 'assistant': {
      const { reasoning = '', calls: options = [] } = (message.provider ?? {}) as Partial<Kept>
      return {
        role: 'assistant',
        content: [
          ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.calls.map((call, place) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.tool,
            input: call.arguments ?? {},
            ...(options[place] && { providerOptions: options[place] }),
          })),
        ],
      }
    }
    case 'tool':
      return {
        role: 'tool',
        content: message.results.map(({ id, tool, text }) => ({
          type: 'tool-result' as const,
          toolCallId: id,
          toolName: tool,
          output: { type: 'text' as const, value: text },
        })),
      }
  }
}

const callOf = (call: { toolCallId: string; toolName: string; input: unknown }): ModelCall => ({
  id: call.toolCallId,
  tool: call.toolName,
  arguments: isObject(call.input) ? call.input : undefined,
})

/** Converts an error to a failure that names its cause. A provider's response may quote the key, so it is redacted. */
const failureOf = (error: unknown, apiKey: string): ModelFailure => {
  const last = RetryError.isInstance(error) ? error.lastError : error
  if (!APICallError.isInstance(last)) {
    const message =
      last instanceof UnusableResponse ? 'The model’s response is unusable' : 'The model’s response could not be read'
    return { kind: 'failure', message: `${message}: ${textOf(last, apiKey)}` }
  }
  const { statusCode, responseBody, responseHeaders, cause } = last
  if (statusCode === undefined) {
    return { kind: 'failure', message: `The model did not answer: ${textOf(cause ?? last, apiKey)}` }
  }
  const body = withoutKey(responseBody ?? '', apiKey)
  return {
    kind: 'failure',
    message: withoutKey(failureMessage(statusCode, responseHeaders?.[ERROR_IN_BODY], cause), apiKey),
    status: statusCode,
    ...(body !== '' && { body }),
  }
}

const failureMessage = (status: number, errorInBody: string | undefined, cause: unknown): string => {
  if (errorInBody !== undefined) {
    const code = decodeURIComponent(errorInBody)
    return `The model provider responded with HTTP 200 and an error${code === '' ? '' : ` (${code})`}.`
  }
  if (status >= 400) return `The model provider responded with HTTP ${status}.`
  if (JSONParseError.isInstance(cause)) return 'The model’s response isn’t JSON.'
  return `The model’s response isn’t a chat completion${wrongFields(cause)}.`
}

/** Names the fields that the library refused, from the issues of its schema. */
const wrongFields = (error: unknown): string => {
  const issues = TypeValidationError.isInstance(error) && isObject(error.cause) ? error.cause.issues : undefined
  if (!Array.isArray(issues)) return ''
  const named = issues
    .slice(0, 3)
    .map(({ path, message }) => `${Array.isArray(path) ? path.join('.') : ''}: ${message}`)
  return named.length === 0 ? '' : `: ${named.join('; ')}`
}

const textOf = (error: unknown, apiKey: string): string =>
  withoutKey(error instanceof Error ? error.message : String(error), apiKey).slice(0, 300)

const withoutKey = (text: string, apiKey: string): string =>
  text.replaceAll(apiKey, '…').slice(0, SHOWN_BODY).toWellFormed()
