import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { useData } from '../../../ui/data.ts'
import { humanize } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Name, Prose } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { pollNow } from '../live.ts'
import { Markdown } from './markdown.tsx'
import { type ObjectSchema, objectFrom, SchemaFields, type Typed, typedFrom } from './schema-fields.tsx'

interface Question {
  message?: string
  schema?: ObjectSchema
}

/** Form of a question without a schema. */
const TEXT: ObjectSchema = { properties: { text: { type: 'string', title: t('Answer') } } }

/** One question with the form of its answer, rendered from the schema that the agent sent. */
const QuestionForm = ({
  runId,
  name,
  question,
  onAnswered,
}: {
  runId: string
  name: string
  question: Question
  onAnswered: (run: Schemas['Run']) => unknown
}) => {
  const schema = question.schema ?? TEXT
  const [typed, setTyped] = useState<Typed>(() =>
    Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([field, one]) => [field, typedFrom(one, one.default)]),
    ),
  )
  const { failure, act } = useAction()
  const problems = failure ? fieldProblems(failure) : {}
  const answer = (action: 'accept' | 'decline') =>
    act(async () => {
      const content = objectFrom(schema, typed)
      const responses = { [name]: action === 'accept' ? { action, content } : { action } }
      const run = await unwrap(
        api.POST('/console/runs/{id}/input', { params: { path: { id: runId } }, body: { responses } }),
      )
      announce(action === 'accept' ? t('Answer sent.') : t('Declined. The agent has been notified.'))
      // The form stays until then, and the focus moves once it is gone.
      await onAnswered(run)
      pollNow()
    })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void answer('accept')
      }}
    >
      <Markdown text={question.message ?? ''} />
      <SchemaFields
        schema={schema}
        typed={typed}
        onTyped={(field, value) => setTyped((before) => ({ ...before, [field]: value }))}
        problemOf={(field) => problems[`responses.${name}.content.${field}`]}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="submit" class="primary" data-decision="answer">
          {t('Answer')}
        </button>
        <button type="button" data-decision="decline" onClick={() => void answer('decline')}>
          {t('Decline')}
        </button>
      </div>
    </form>
  )
}

/** Asks the user an agent's questions. Questions that are answered already are left out. */
export const Questions = ({
  runId,
  agent,
  questions,
  answered,
  onAnswered,
}: {
  runId: string
  agent: string
  questions: Record<string, unknown>
  answered: readonly string[]
  onAnswered: (run: Schemas['Run']) => unknown
}) => (
  <article class="card urgent asked" aria-label={t('Answer a question')}>
    <h2>{rich('{agent} has a question', { agent: <Name>{agent}</Name> })}</h2>
    {Object.entries(questions)
      .filter(([name, question]) => !answered.includes(name) && 'message' in (question as object))
      .map(([name, question]) => (
        <QuestionForm key={name} runId={runId} name={name} question={question as Question} onAnswered={onAnswered} />
      ))}
    {Object.entries(questions).some(
      ([name, question]) => !answered.includes(name) && !('message' in (question as object)),
    ) && (
      <p class="soft">
        {t('It also waits for the assistant that started the run. Only the assistant can answer that part.')}
      </p>
    )}
  </article>
)

interface Response {
  action: string
  content?: Record<string, unknown>
}

/** Shows a question's answer. */
const Answer = ({ question, response: { action, content = {} } }: { question: Question; response: Response }) => {
  const { properties } = question.schema ?? TEXT
  const values = Object.entries(content)
  const shown = (value: unknown): string => (typeof value === 'boolean' ? (value ? t('Yes') : t('No')) : String(value))
  return (
    <>
      <Markdown text={question.message ?? ''} />
      {action === 'accept' ? (
        <dl class="facts">
          {values.map(([field, value]) => (
            <Fragment key={field}>
              <dt>{sanitize(values.length === 1 ? t('Answer') : (properties?.[field]?.title ?? humanize(field)))}</dt>
              <dd>
                <Prose text={shown(value)} />
              </dd>
            </Fragment>
          ))}
        </dl>
      ) : (
        <p class="soft">{t('Declined to answer.')}</p>
      )}
    </>
  )
}

/** Shows the questions of a run in its conversation: as forms while it waits, then with their answers. */
export const QuestionsInChat = ({ runId, stepId, text }: { runId: string; stepId: string; text: string }) => {
  const run = useData<Schemas['Run']>(`runs one ${runId}`, () =>
    unwrap(api.GET('/console/runs/{id}', { params: { path: { id: runId } } })),
  )
  const step = run.data?.steps?.find(({ id }) => id === stepId)
  const { input_requests, responses = {} } = (step?.output ?? {}) as {
    input_requests?: Record<string, Question>
    responses?: Record<string, Response>
  }
  if (!step || !input_requests) return <Markdown text={text} />
  const isOpen = step.status === 'pending'
  return (
    <div class="asked">
      {Object.entries(input_requests).map(([name, question]) => {
        const response = responses[name]
        if (response) return <Answer key={name} question={question} response={response} />
        if (isOpen && question.message !== undefined) {
          return <QuestionForm key={name} runId={runId} name={name} question={question} onAnswered={run.reload} />
        }
        return (
          <Fragment key={name}>
            <Markdown text={question.message ?? ''} />
            <p class="soft">{t('Not answered.')}</p>
          </Fragment>
        )
      })}
    </div>
  )
}
