import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  generateText,
  jsonSchema,
  type ModelMessage as Message,
  RetryError,
  type ToolSet,
  tool,
} from 'ai'
import { LIMITS } from '../kernel/limits.ts'
import type {
  LanguageModel,
  ModelAnswer,
  ModelCall,
  ModelFailure,
  ModelMessage,
  ModelRequest,
} from '../kernel/ports/language-model.ts'

export interface LanguageModelOptions {
  key: () => Promise<string | undefined>
  /** Base URL of an OpenAI-compatible API, without a trailing slash. */
  apiUrl: string | undefined
  /** Model for requests that name none. */
  name: string | undefined
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
export const createLanguageModel = ({
  key,
  apiUrl,
  name,
  deadlineMs = LIMITS.modelTurn,
}: LanguageModelOptions): LanguageModel => ({
  async turn(request) {
    const apiKey = apiUrl === undefined ? undefined : await key()
    const model = request.model ?? name
    if (apiUrl === undefined || apiKey === undefined || model === undefined) return { kind: 'not_configured' }
    // The library prints its warnings, which would become separate lines in the logs.
    globalThis.AI_SDK_LOG_WARNINGS = false
    const provider = createOpenAICompatible({ name: 'model', baseURL: apiUrl, apiKey, fetch: fetchBounded })
    const deadline = AbortSignal.timeout(deadlineMs)
    try {
      const result = await generateText({
        model: provider(model),
        instructions: request.instructions,
        messages: request.messages.map(messageOf),
        tools: toolsOf(request),
        maxRetries: RETRIES,
        abortSignal: AbortSignal.any([request.signal, deadline]),
      })
      return {
        kind: 'answer',
        text: result.text,
        calls: result.toolCalls.map(callOf),
        end: ENDS[result.finishReason] ?? 'whole',
        inputTokens: result.usage.inputTokens ?? 0,
        outputTokens: result.usage.outputTokens ?? 0,
      }
    } catch (error) {
      if (deadline.aborted)
        return { kind: 'failure', message: `The model did not answer within ${deadlineMs / 1_000} s.` }
      return failureOf(error, apiKey)
    }
  },
})

const ENDS: Record<string, ModelAnswer['end']> = { length: 'length', 'content-filter': 'refused' }

/** Sends the key only to the configured address, and limits the size of the response. */
const fetchBounded = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const response = await fetch(input, { ...init, redirect: 'error' })
  let bytes = 0
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        bytes += piece.byteLength
        if (bytes > LIMITS.modelAnswerBytes) controller.error(new Error('the answer is over 4 MiB'))
        else controller.enqueue(piece)
      },
    }),
  )
  return new Response(counted ?? null, response)
}

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
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.tool,
            input: call.arguments ?? {},
          })),
        ],
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Converts an error to a failure. A provider's response may quote the key, so it is redacted. */
const failureOf = (error: unknown, apiKey: string): ModelFailure => {
  const last = RetryError.isInstance(error) ? error.lastError : error
  if (!APICallError.isInstance(last)) {
    return { kind: 'failure', message: `The model’s response could not be read: ${textOf(last, apiKey)}` }
  }
  const { statusCode, responseBody } = last
  if (statusCode === undefined) return { kind: 'failure', message: `The model did not answer: ${textOf(last, apiKey)}` }
  const body = withoutKey(responseBody ?? '', apiKey)
  return {
    kind: 'failure',
    message:
      statusCode < 400
        ? 'The model’s response could not be understood.'
        : `The model provider responded with HTTP ${statusCode}.`,
    status: statusCode,
    ...(body !== '' && { body }),
  }
}

const textOf = (error: unknown, apiKey: string): string =>
  withoutKey(error instanceof Error ? error.message : String(error), apiKey).slice(0, 300)

const withoutKey = (text: string, apiKey: string): string =>
  text.replaceAll(apiKey, '…').slice(0, SHOWN_BODY).toWellFormed()
