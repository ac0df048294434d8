import { type Translate, translator } from '#shared/kernel/messages.ts'
import type { LanguageModel, ModelAnswer, ModelCall, ModelRequest } from '#shared/kernel/ports/language-model.ts'

/** Name of the built-in model, which answers by fixed rules and needs neither key nor network. */
export const SAMPLE_MODEL = 'platform:sample'

const answer = (text: string, calls: ModelCall[] = []): ModelAnswer => ({
  kind: 'answer',
  text,
  calls,
  end: 'whole',
  usage: { input_tokens: 0, output_tokens: 0 },
})

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const parsed = (text: string): Record<string, unknown> => {
  try {
    return record(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Returns what the person wrote: the message to answer, the task, or the first text of the run's input. */
const questionIn = (prompt: string): string => {
  const { conversation, task, input } = parsed(prompt)
  const said = record(record(conversation).message).text ?? record(task).title
  if (typeof said === 'string') return said
  return Object.values(record(input)).find((value) => typeof value === 'string') ?? ''
}

const QUOTED = 200
const quoted = (text: string): string => `“${text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text}”`

const introduction = (t: Translate): string =>
  t('I’m the sample agent. I answer by fixed rules, without a language model, to show how agents work here.')

const suggestions = (t: Translate): string =>
  t(
    'Try “Tell me about this workspace”, which reads the workspace’s settings, “Create a task: water the plants”, or “Open https://example.com”, which a person has to approve.',
  )

/** English and German, because the suggestions are in the workspace's language. */
const TASK = /\b(?:task|aufgabe)\b[^:]*:\s*(?<title>.+)/is
const WORKSPACE = /\bworkspace\b/i
const ADDRESS = /\bhttps:\/\/[^\s”“"<>]+/i

/** Returns the call that a question asks for. */
const callFor = (question: string): Omit<ModelCall, 'id'> | undefined => {
  const title = TASK.exec(question)?.groups?.title?.split('\n')[0]?.trim().slice(0, 200)
  if (title) return { tool: 'create_task', arguments: { title } }
  const url = ADDRESS.exec(question)?.[0]
  if (url) return { tool: 'http_fetch', arguments: { url } }
  return WORKSPACE.test(question) ? { tool: 'workspace_info', arguments: {} } : undefined
}

/** Puts the result of a call into words. */
const report = (t: Translate, tool: string, text: string): string => {
  const result = parsed(text)
  if ('error' in result) return t('I tried, but wasn’t allowed to. The run shows what was refused, and why.')
  if (tool === 'create_task') return t('Done: the task is on the board under Tasks.')
  if (tool === 'http_fetch')
    return t('Approved and done: the address answered with status {status}.', { status: String(result.status ?? '–') })
  const { name, locale, time_zone } = result
  return [
    typeof name === 'string'
      ? t('This workspace is called {name}.', { name: quoted(name) })
      : t('I read the workspace’s settings.'),
    ...(typeof locale === 'string' ? [t('Its language is {locale}.', { locale })] : []),
    ...(typeof time_zone === 'string' ? [t('Its time zone is {zone}.', { zone: time_zone })] : []),
    t('I read that with the tool workspace_info, which you can see in the run.'),
  ].join(' ')
}

const turn = (t: Translate, { messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): ModelAnswer => {
  const last = messages.at(-1)
  if (last?.role === 'tool') {
    const [result] = last.results
    return answer(result ? report(t, result.tool, result.text) : introduction(t))
  }
  const question = last?.role === 'user' ? questionIn(last.text) : ''
  const call = callFor(question)
  if (call && tools.some(({ name }) => name === call.tool)) return answer('', [{ id: 'call-1', ...call }])
  if (call)
    return answer(
      `${introduction(t)} ${t('I’m not allowed to use the tool {tool} in this workspace.', { tool: call.tool })}`,
    )
  const said = question ? [t('You wrote {question}.', { question: quoted(question) })] : []
  return answer([...said, introduction(t), suggestions(t)].join(' '))
}

/**
 * Returns the built-in model, which speaks the workspace's language. The same conversation always gets the same turn.
 * @param locale BCP 47
 */
export const sampleModel = (locale: string): LanguageModel => ({
  turn: async (request) => turn(translator(locale), request),
})
