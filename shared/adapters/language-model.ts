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
import type {
  LanguageModel,
  ModelAnswer,
  ModelCall,
  ModelFailure,
  ModelMessage,
  ModelRequest,
} from '../domain/ports.ts'
import { LIMITS } from '../kernel/limits.ts'

export interface LanguageModelOptions {
  key: () => Promise<string | undefined>
  /** An OpenAI-compatible API, without a trailing slash. */
  apiUrl: string | undefined
  /** The model of requests that name none. */
  name: string | undefined
  /** Milliseconds for one turn with its retries. */
  deadlineMs?: number
}

/** Tries of a turn beside the first, after 408, 409, 429, 5xx or no connection; `Retry-After` up to a minute is kept to. */
const RETRIES = 2

/** Characters kept of what a provider answered in error. */
const SHOWN_BODY = 1_000

/**
 * A language model behind any OpenAI-compatible API, over the AI SDK. Turns are taken one by one: who executes the tools,
 * and how often, is the platform's to decide.
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
    // The library prints its warnings; they would stand in the logs as lines of their own.
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

/** The key goes nowhere but to the address that was set, and an answer without end is not read to its end. */
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

/** Without anything to execute, the library hands the calls over instead. */
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

/** What a provider answers may quote the key. */
const failureOf = (error: unknown, apiKey: string): ModelFailure => {
  const last = RetryError.isInstance(error) ? error.lastError : error
  if (!APICallError.isInstance(last)) {
    return { kind: 'failure', message: `The model’s answer could not be read: ${textOf(last, apiKey)}` }
  }
  const { statusCode, responseBody } = last
  if (statusCode === undefined) return { kind: 'failure', message: `The model gave no answer: ${textOf(last, apiKey)}` }
  const body = withoutKey(responseBody ?? '', apiKey)
  return {
    kind: 'failure',
    message:
      statusCode < 400
        ? 'The model’s answer could not be understood.'
        : `The model provider answered HTTP ${statusCode}.`,
    status: statusCode,
    ...(body !== '' && { body }),
  }
}

const textOf = (error: unknown, apiKey: string): string =>
  withoutKey(error instanceof Error ? error.message : String(error), apiKey).slice(0, 300)

const withoutKey = (text: string, apiKey: string): string =>
  text.replaceAll(apiKey, '…').slice(0, SHOWN_BODY).toWellFormed()
