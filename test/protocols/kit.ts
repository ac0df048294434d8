import { setTimeout as pause } from 'node:timers/promises'

// biome-ignore lint/suspicious/noExplicitAny: a fixture reads bodies of every shape
type Execute = any
type Json = Record<string, unknown>
type Later = (
  execute: Execute,
  work: (report: (resource: string, body: object) => Promise<unknown>) => Promise<object>,
) => undefined

const shaped = ($a2a: Json) => ({ status: 'succeeded', output: { $a2a } })
const artifacts = (...parts: Json[]) => shaped({ artifacts: [{ parts }] })
const asks = (n: number) => ({ status: 'input_required', input_requests: { [`answer_${n}`]: { message: 'And now?' } } })
const TEXT_FILE = { filename: 'output.txt', mediaType: 'text/plain' }
const RAW_FILE = { ...TEXT_FILE, raw: Buffer.from('Generated content').toString('base64') }

/** Behaviour that the official kit expects of the agent under test, by the prefix of a message's id. */
const ANSWERS: Record<string, (streams: (...steps: Json[]) => unknown) => unknown> = {
  'tck-artifact-text': () => artifacts({ text: 'Generated text content' }),
  'tck-artifact-file': () => artifacts(RAW_FILE),
  'tck-artifact-file-url': () => artifacts({ ...TEXT_FILE, url: 'https://example.com/output.txt' }),
  'tck-artifact-data': () => artifacts({ data: { key: 'value', count: 42 } }),
  'tck-message-response': () => shaped({ message: { parts: [{ text: 'Direct message response' }] } }),
  'tck-reject-task': () => ({ status: 'failed', error_code: 'rejected', error_message: 'rejected' }),
  'tck-stream-001': (streams) => streams({ parts: [{ text: 'Stream hello from TCK' }] }),
  'tck-stream-002': () => shaped({ message: { parts: [{ text: 'Hello from TCK' }] } }),
  'tck-stream-003': (streams) => streams({ parts: [{ text: 'Stream task lifecycle' }] }),
  'tck-stream-ordering-001': (streams) => streams({ parts: [{ text: 'Ordered output' }] }),
  'tck-stream-artifact-text': (streams) => streams({ parts: [{ text: 'Streamed text content' }] }),
  'tck-stream-artifact-file': (streams) => streams({ parts: [RAW_FILE] }),
  'tck-stream-artifact-chunked': (streams) =>
    streams(
      { artifact_id: 'chunks', parts: [{ text: 'chunk-1 ' }], last_chunk: false },
      { artifact_id: 'chunks', parts: [{ text: 'chunk-2' }], append: true, last_chunk: true },
    ),
}

/** Acts on a message of the A2A project's compatibility kit (TCK). Any other message completes the task. */
export const answerKit = (execute: Execute, later: Later, signal: AbortSignal): unknown => {
  const id: string = execute.message?.messageId ?? ''
  const done = { status: 'succeeded', output: { text: 'Hello from TCK' } }
  if (id.startsWith('tck-input-required')) return answerQuestions(execute)
  if (id.startsWith('test-resubscribe-message-id')) {
    return later(execute, () => pause(4_000, undefined, { signal }).then(() => artifacts({ text: 'Done.' })))
  }
  const streams = (...steps: Json[]) =>
    later(execute, async (report) => {
      for (const output of steps) {
        await report('steps', { type: 'artifact', output })
        await pause(50)
      }
      return artifacts()
    })
  const names = Object.keys(ANSWERS).filter((name) => id.startsWith(name))
  const longest = names.sort((a, b) => b.length - a.length)[0]
  return longest === undefined ? done : ANSWERS[longest]?.(streams)
}

/** Asks again after each answer but the one that ends the task. */
const answerQuestions = ({ resume }: Execute): unknown => {
  if (!resume) return asks(1)
  const [[key, answer] = ['answer_0', undefined]] = Object.entries<Execute>(resume.input).slice(-1)
  const isLast = !/history message/.test(answer?.content?.text ?? '')
  return isLast ? { status: 'succeeded', output: { text: 'Hello from TCK' } } : asks(Number(key.slice(7)) + 1)
}
