import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { DayChart } from '../../../ui/chart.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { filter, setFilter } from '../../../ui/filters.tsx'
import { Field } from '../../../ui/form.tsx'
import { count, duration, fullTime } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { isAdmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { BudgetForm, titleOf } from '../ui/budget-form.tsx'

type Analytics = Schemas['WorkspaceAnalytics']
type Day = Analytics['daily'][number]
type Budget = Schemas['Budget']

const MEASURES = { runs: t('runs'), tokens: t('tokens'), cost_units: t('cost units') } as const

type Measure = keyof typeof MEASURES

const NAMES = Object.keys(MEASURES) as Measure[]

const Totals = ({ data }: { data: Analytics }) => (
  <dl class="figures">
    <div>
      <dt>{t('Runs')}</dt>
      <dd>{count(data.runs)}</dd>
    </div>
    <div>
      <dt>{t('Tokens')}</dt>
      <dd>{count(data.tokens)}</dd>
    </div>
    <div>
      <dt>{t('Cost units')}</dt>
      <dd>{count(data.cost_units)}</dd>
    </div>
    <div>
      <dt>{t('Success rate')}</dt>
      <dd>{data.success_rate === null ? '–' : `${Math.round(data.success_rate * 100)}%`}</dd>
    </div>
    <div>
      <dt>{t('Median duration')}</dt>
      <dd>{data.duration_ms?.median ? duration(data.duration_ms.median) : '–'}</dd>
    </div>
  </dl>
)

const Charts = ({ daily, earlier }: { daily: Day[]; earlier: Day[] | undefined }) => {
  const days = daily.map(({ date }) => date)
  return (
    <div class="charts">
      <DayChart
        title={t('Ended runs')}
        days={days}
        series={[
          { name: t('Succeeded'), tone: 'one', values: daily.map(({ succeeded }) => succeeded) },
          { name: t('Failed'), tone: 'two', values: daily.map(({ failed }) => failed) },
          { name: t('Cancelled'), tone: 'three', values: daily.map(({ cancelled }) => cancelled) },
        ]}
        before={earlier?.map(({ succeeded, failed, cancelled }) => succeeded + failed + cancelled)}
      />
      {(['tokens', 'cost_units'] as const).map((measure) => (
        <DayChart
          key={measure}
          title={measure === 'tokens' ? t('Tokens') : t('Cost units')}
          days={days}
          series={[{ name: t('Used'), tone: 'one', values: daily.map((day) => day[measure]) }]}
          before={earlier?.map((day) => day[measure])}
        />
      ))}
    </div>
  )
}

interface Used extends Record<Measure, number> {
  id: string
  name: string | null
  failed: number
  to?: string
}

const Ranking = ({ title, of, none }: { title: string; of: readonly Used[]; none: string }) => (
  <section class="section">
    <h2>{title}</h2>
    {of.length === 0 ? (
      <Empty title={none} />
    ) : (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard
      <section class="table" tabIndex={0} aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col" class="number">
                {t('Runs')}
              </th>
              <th scope="col" class="number">
                {t('Failed')}
              </th>
              <th scope="col" class="number">
                {t('Tokens')}
              </th>
              <th scope="col" class="number">
                {t('Cost units')}
              </th>
            </tr>
          </thead>
          <tbody>
            {of.map(({ id, name, to, ...used }) => (
              <tr key={id}>
                <th scope="row">
                  {to && name !== null ? (
                    <a href={`#${to}`}>
                      <Name>{name}</Name>
                    </a>
                  ) : (
                    <Name>{name ?? t('Somebody who left')}</Name>
                  )}
                </th>
                <td class="number">{count(used.runs)}</td>
                <td class="number">{count(used.failed)}</td>
                <td class="number">{count(used.tokens)}</td>
                <td class="number">{count(used.cost_units)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    )}
  </section>
)

const Meter = ({
  budget,
  use,
  measure,
}: {
  budget: Budget
  use: Budget['use'][number] | undefined
  measure: Measure
}) => {
  const limit = budget.limits[measure]
  if (limit === null) return null
  const used = use?.[measure] ?? 0
  const reserved = measure === 'runs' ? 0 : (use?.reserved[measure] ?? 0)
  const share = (value: number): string => `${Math.min(100, (100 * value) / limit)}%`
  const percent = Math.round((100 * used) / limit)
  return (
    <div class="meter">
      <p>
        <span>
          {t('{used} of {limit} {measure}', { used: count(used), limit: count(limit), measure: MEASURES[measure] })}
          {reserved > 0 && <span class="soft"> {t('· {reserved} reserved', { reserved: count(reserved) })}</span>}
        </span>
        <span class="soft">{percent}%</span>
      </p>
      <div class="bar" aria-hidden="true">
        <span class={percent >= 100 ? 'full' : percent >= 80 ? 'high' : ''} style={{ width: share(used) }} />
        <span class="held" style={{ width: share(reserved) }} />
      </div>
    </div>
  )
}

/** Most agents or people whose use of a budget is shown. */
const SHOWN = 5

const BudgetCard = ({ budget, onEdit }: { budget: Budget; onEdit: () => void }) => {
  const isEach = budget.subject.type !== 'workspace' && budget.subject.id === null
  const title = titleOf(budget)
  return (
    <li class="card budget">
      <div class="head">
        <h3>
          <Name>{title}</Name>
        </h3>
        {isAdmin.value && (
          <div class="actions">
            <button type="button" class="quiet" onClick={onEdit}>
              {rich('Change{title}', { title: <span class="unseen"> {title}</span> })}
            </button>
            <Confirm
              quiet
              label={rich('Remove{title}', { title: <span class="unseen"> {title}</span> })}
              title={t('Remove this budget?')}
              verb={t('Remove')}
              act={async () => {
                await unwrap(api.DELETE('/console/budgets/{id}', { params: { path: { id: budget.id } } }))
                announce(t('Budget removed.'))
                await refresh('budgets')
              }}
            >
              <p>{t('Agents can run without this limit right away. What it counted so far is lost.')}</p>
            </Confirm>
          </div>
        )}
      </div>
      {isEach ? (
        budget.use.length === 0 ? (
          <p class="soft">{t('Nothing used yet.')}</p>
        ) : (
          <ul class="plain">
            {budget.use.slice(0, SHOWN).map((use) => (
              <li key={use.id}>
                <strong>
                  <Name>{use.name ?? t('Somebody who left')}</Name>
                </strong>
                {NAMES.map((measure) => (
                  <Meter key={measure} budget={budget} use={use} measure={measure} />
                ))}
              </li>
            ))}
            {budget.use.length > SHOWN && (
              <li class="soft">{t('And {value} more.', { value: count(budget.use.length - SHOWN) })}</li>
            )}
          </ul>
        )
      ) : (
        NAMES.map((measure) => <Meter key={measure} budget={budget} use={budget.use[0]} measure={measure} />)
      )}
      <p class="hint">{t('Starts again {resets_at}.', { resets_at: fullTime(budget.resets_at) })}</p>
    </li>
  )
}

const Budgets = () => {
  const [editing, setEditing] = useState<Budget | 'new'>()
  const known = useData('budgets', () => unwrap(api.GET('/console/budgets')))
  const close = (): void => setEditing(undefined)
  return (
    <section class="section" aria-labelledby="budgets">
      <div class="head">
        <h2 id="budgets">{t('Budgets')}</h2>
        {isAdmin.value && (
          <div class="actions">
            <button type="button" onClick={() => setEditing('new')}>
              {t('Add a budget')}
            </button>
          </div>
        )}
      </div>
      <Shown known={known} rows={1} tall>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t('No budgets')}>
              <p>
                {t(
                  'A budget stops new runs once its runs, tokens or cost units are used up. You’re notified at 50, 80 and 100 percent.',
                )}
              </p>
            </Empty>
          ) : (
            <ul class="plain charts">
              {items.map((budget) => (
                <BudgetCard key={budget.id} budget={budget} onEdit={() => setEditing(budget)} />
              ))}
            </ul>
          )
        }
      </Shown>
      {editing && (
        <Modal title={editing === 'new' ? t('Add a budget') : titleOf(editing)} onClose={close}>
          <BudgetForm budget={editing === 'new' ? undefined : editing} onDone={close} />
        </Modal>
      )}
    </section>
  )
}

export default function Usage() {
  const days = Number(filter('days') || '30')
  // The API returns 90 days at most, so the longest period has nothing to compare with.
  const known = useData(`runs usage ${days}`, () =>
    unwrap(api.GET('/console/analytics', { params: { query: { days: String(days) } } })),
  )
  const longer = useData(`runs usage before ${days}`, async () =>
    days > 45
      ? undefined
      : (await unwrap(api.GET('/console/analytics', { params: { query: { days: String(2 * days) } } }))).daily,
  )
  return (
    <Screen title={t('Usage and budgets')} wide>
      <Budgets />
      <section class="section" aria-labelledby="usage">
        <div class="head">
          <h2 id="usage">{t('Usage')}</h2>
          <Field label={t('Period')}>
            {(field) => (
              <select
                {...field}
                value={String(days)}
                onChange={({ currentTarget }) => setFilter('days', currentTarget.value)}
              >
                <option value="7">{t('7 days')}</option>
                <option value="30">{t('30 days')}</option>
                <option value="90">{t('90 days')}</option>
              </select>
            )}
          </Field>
        </div>
        <Shown known={known} rows={3} tall>
          {(data) => (
            <>
              <Totals data={data} />
              <Charts daily={data.daily} earlier={longer.data?.slice(0, days)} />
              <p class="hint">
                {t(
                  'Days are in UTC. Dashed lines show the same number of days before. Tokens and cost units are counted as far as agents report them.',
                )}
              </p>
              <Ranking
                title={t('By agent')}
                none={t('No agent ran in this period')}
                of={data.by_agent.map((one) => ({
                  ...one,
                  id: one.installation_id,
                  to: `/agents/${one.installation_id}`,
                }))}
              />
              <Ranking
                title={t('By person')}
                none={t('Nobody started a run in this period')}
                of={data.by_person.map((one) => ({ ...one, id: one.user_id }))}
              />
            </>
          )}
        </Shown>
      </section>
    </Screen>
  )
}
