import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { useData } from '../../../ui/data.ts'
import { Field } from '../../../ui/form.tsx'
import { humanize } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Name, Prose } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { pollNow } from '../live.ts'
import { Markdown } from './markdown.tsx'

interface FormField {
  type?: 'string' | 'number' | 'integer' | 'boolean'
  title?: string
  description?: string
  default?: string | number | boolean
  enum?: (string | number | boolean)[]
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

interface Question {
  message?: string
  schema?: { properties: Record<string, FormField>; required?: string[] }
}

/** Form of a question without a schema. */
const TEXT: NonNullable<Question['schema']> = { properties: { text: { type: 'string', title: t('Answer') } } }

type Typed = Record<string, string | boolean | undefined>

const INPUT_TYPES: Record<string, string> = { email: 'email', uri: 'url', date: 'date' }

/** Converts an input to the field's value. Undefined is left out. */
const fieldValue = (field: FormField, typed: string | boolean | undefined): unknown => {
  if (typed === undefined || typed === '') return undefined
  if (typeof typed === 'boolean') return typed
  if (field.enum) return field.enum.find((one) => String(one) === typed) ?? typed
  if (field.type === 'number' || field.type === 'integer') return Number.isNaN(Number(typed)) ? typed : Number(typed)
  return typed
}

const initial = (field: FormField): string | boolean =>
  field.type === 'boolean' && !field.enum ? field.default === true : String(field.default ?? '')

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
  const { properties, required = [] } = question.schema ?? TEXT
  const fields = Object.entries(properties)
  const [typed, setTyped] = useState<Typed>(() =>
    Object.fromEntries(fields.map(([field, schema]) => [field, initial(schema)])),
  )
  const { failure, act } = useAction()
  const problems = failure ? fieldProblems(failure) : {}
  const put = (field: string, value: string | boolean): void => setTyped((before) => ({ ...before, [field]: value }))
  const answer = (action: 'accept' | 'decline') =>
    act(async () => {
      const content = Object.fromEntries(
        fields.flatMap(([field, schema]) => {
          const value = fieldValue(schema, typed[field])
          return value === undefined ? [] : [[field, value]]
        }),
      )
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
      {fields.map(([field, schema]) => {
        const isRequired = required.includes(field)
        const label = (
          <>
            {sanitize(schema.title ?? humanize(field))}
            {isRequired && <span class="soft"> {t('(required)')}</span>}
          </>
        )
        const hint = schema.description ? sanitize(schema.description) : ''
        const problem = problems[`responses.${name}.content.${field}`]
        if (schema.type === 'boolean' && !schema.enum) {
          return (
            <label class="tick" key={field}>
              <input
                type="checkbox"
                checked={Boolean(typed[field])}
                onChange={(event) => put(field, event.currentTarget.checked)}
              />
              <span>
                <b>{label}</b>
                {hint && <span class="hint"> {hint}</span>}
                {problem && <span class="wrong"> {problem}</span>}
              </span>
            </label>
          )
        }
        return (
          <Field key={field} label={label} hint={hint} problem={problem}>
            {(attributes) =>
              schema.enum ? (
                <select
                  {...attributes}
                  value={String(typed[field] ?? '')}
                  required={isRequired}
                  onChange={(event) => put(field, event.currentTarget.value)}
                >
                  <option value="">{isRequired ? t('Choose…') : '–'}</option>
                  {schema.enum.map((one) => (
                    <option key={String(one)} value={String(one)}>
                      {sanitize(String(one))}
                    </option>
                  ))}
                </select>
              ) : (
                <input
                  {...attributes}
                  type={
                    (schema.type === 'number' || schema.type === 'integer'
                      ? 'number'
                      : (INPUT_TYPES[schema.format ?? ''] ?? 'text')) as 'text'
                  }
                  value={String(typed[field] ?? '')}
                  required={isRequired}
                  autocomplete="off"
                  step={schema.type === 'number' ? 'any' : undefined}
                  {...(schema.minLength !== undefined && { minLength: schema.minLength })}
                  {...(schema.maxLength !== undefined && { maxLength: schema.maxLength })}
                  {...(schema.minimum !== undefined && { min: schema.minimum })}
                  {...(schema.maximum !== undefined && { max: schema.maximum })}
                  onInput={(event) => put(field, event.currentTarget.value)}
                />
              )
            }
          </Field>
        )
      })}
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
              <dt>{sanitize(values.length === 1 ? t('Answer') : (properties[field]?.title ?? humanize(field)))}</dt>
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
