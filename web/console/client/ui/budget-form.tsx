import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Field, Form } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { api, type Schemas, unwrap } from '../api.ts'

type Budget = Schemas['Budget']

/** Names a budget: "Each person, daily". */
export const titleOf = ({ subject, period }: Pick<Budget, 'subject' | 'period'>): string => {
  const every = period === 'day' ? t('daily') : t('monthly')
  if (subject.type === 'workspace') return t('Workspace, {every}', { every })
  if (subject.id === null)
    return t('Each {type, select, agent {agent} other {person}}, {every}', { type: subject.type, every })
  const name = sanitize(subject.name ?? t('Somebody who left'))
  return `${subject.is_installed === false ? t('{name} (not installed)', { name }) : name}, ${every}`
}

const EACH = { workspace: t('The whole workspace'), agent: t('Each agent'), person: t('Each person') } as const

const SubjectOptions = () => {
  const agents = useData('agents for budgets', () =>
    unwrap(api.GET('/console/installations', { params: { query: { limit: 100 } } })),
  )
  const people = useData('members for budgets', () =>
    unwrap(api.GET('/console/members', { params: { query: { limit: 100 } } })),
  )
  return (
    <>
      {Object.entries(EACH).map(([type, words]) => (
        <option key={type} value={type}>
          {words}
        </option>
      ))}
      <optgroup label={t('One agent')}>
        {agents.data?.items.map(({ app }) => (
          <option key={app.id} value={`agent ${app.id}`}>
            {sanitize(app.name)}
          </option>
        ))}
      </optgroup>
      <optgroup label={t('One person')}>
        {people.data?.items.map(({ id, name }) => (
          <option key={id} value={`person ${id}`}>
            {sanitize(name)}
          </option>
        ))}
      </optgroup>
    </>
  )
}

const LIMITS = [
  ['runs', t('Runs'), undefined],
  ['tokens', t('Tokens'), t('Of language models, as far as agents report them.')],
  ['cost_units', t('Cost units'), t('As agents report them.')],
] as const

const textOf = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value)

const amountOf = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text))

/** Fields of a new budget, or of an existing one's limits. */
export const BudgetForm = ({ budget, onDone }: { budget: Budget | undefined; onDone: () => void }) => {
  const [subject, setSubject] = useState('workspace')
  const [period, setPeriod] = useState<Budget['period']>('day')
  const [limits, setLimits] = useState(() =>
    Object.fromEntries(LIMITS.map(([measure]) => [measure, textOf(budget?.limits[measure])])),
  )
  const [perRun, setPerRun] = useState(() =>
    Object.fromEntries(LIMITS.slice(1).map(([measure]) => [measure, textOf(budget?.per_run[measure as 'tokens'])])),
  )
  const send = async (): Promise<void> => {
    const given = (texts: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(texts).flatMap(([name, text]) => (amountOf(text) ? [[name, amountOf(text)]] : [])),
      )
    const limited = given(limits)
    const body = {
      limits: limited,
      per_run: Object.fromEntries(Object.entries(given(perRun)).filter(([measure]) => measure in limited)),
    }
    if (budget) await unwrap(api.PUT('/console/budgets/{id}', { params: { path: { id: budget.id } }, body }))
    else {
      const [type = 'workspace', id] = subject.split(' ') as [Budget['subject']['type'], string?]
      await unwrap(api.POST('/console/budgets', { body: { subject: { type, ...(id && { id }) }, period, ...body } }))
    }
    announce(budget ? t('Budget changed. It applies to the next run.') : t('Budget added. It applies to the next run.'))
    await refresh('budgets')
  }
  return (
    <Form verb={budget ? t('Save') : t('Add budget')} send={send} done={onDone}>
      {!budget && (
        <>
          <Field label={t('For')}>
            {(field) => (
              <select {...field} value={subject} onChange={({ currentTarget }) => setSubject(currentTarget.value)}>
                <SubjectOptions />
              </select>
            )}
          </Field>
          <Field label={t('Per')} hint={t('Days and months are in UTC.')}>
            {(field) => (
              <select
                {...field}
                value={period}
                onChange={({ currentTarget }) => setPeriod(currentTarget.value as Budget['period'])}
              >
                <option value="day">{t('Day')}</option>
                <option value="month">{t('Month')}</option>
              </select>
            )}
          </Field>
        </>
      )}
      <p class="hint">{t('Set at least one limit. Leave the others empty.')}</p>
      {LIMITS.map(([measure, label, hint]) => (
        <Field key={measure} label={label} hint={hint}>
          {(field) => (
            <input
              {...field}
              type="number"
              min={0}
              step={measure === 'cost_units' ? 'any' : 1}
              value={limits[measure]}
              onInput={({ currentTarget: { value } }) => setLimits((before) => ({ ...before, [measure]: value }))}
            />
          )}
        </Field>
      ))}
      <details>
        <summary>{t('Reserved by each run')}</summary>
        <p class="hint">
          {t(
            'A run reserves this much when it starts, and gives back at its end what it didn’t use. A larger reservation lets fewer agents run at once near the limit, and lets less be used beyond it. Empty: a hundredth of the limit.',
          )}
        </p>
        {LIMITS.slice(1).map(([measure, label]) => (
          <Field key={measure} label={t('{label} for each run', { label })}>
            {(field) => (
              <input
                {...field}
                type="number"
                min={0}
                step={measure === 'cost_units' ? 'any' : 1}
                value={perRun[measure]}
                onInput={({ currentTarget: { value } }) => setPerRun((before) => ({ ...before, [measure]: value }))}
              />
            )}
          </Field>
        ))}
      </details>
    </Form>
  )
}
