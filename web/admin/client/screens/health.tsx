import { useData } from '../../../ui/data.ts'
import { count, duration, fullTime } from '../../../ui/format.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Health = Schemas['PlatformHealth']

const STATUS: Record<Health['status'], { tone: string; words: string }> = {
  ok: { tone: 'good', words: '✓ No known problems' },
  degraded: { tone: 'warn', words: '! Some parts aren’t working properly' },
  failing: { tone: 'bad', words: '✕ A critical part isn’t working' },
}

const measured = (value: number | null, words: (value: number) => string = count): string =>
  value === null ? 'not measured' : words(value)

const seconds = (value: number): string => duration(value * 1_000)

const Figure = ({
  label,
  value,
  words = count,
}: {
  label: string
  value: number | null
  words?: (value: number) => string
}) => (
  <div>
    <dt>{label}</dt>
    <dd>{value === null ? <span class="hint">not measured</span> : words(value)}</dd>
  </div>
)

const Table = ({ caption, heads, rows }: { caption: string; heads: string[]; rows: string[][] }) => (
  <section class="section">
    <h2>{caption}</h2>
    {rows.length === 0 && <p class="soft">No measurements</p>}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */}
    <section class="table" tabIndex={0} aria-label={caption} hidden={rows.length === 0}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {cells.map((cell, i) => (
                <td key={heads[i + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </section>
)

const Values = ({ health }: { health: Health }) => {
  const {
    status,
    reasons,
    queues,
    dead_letters: dead,
    stream,
    table,
    functions,
    api: gateway,
    last_sweep: sweep,
  } = health
  return (
    <>
      <p>
        <span class={`state ${STATUS[status].tone}`}>{STATUS[status].words}</span>
      </p>
      {reasons.length > 0 && (
        <ul class="rows">
          {reasons.map(({ alarm, severity, message, since }) => (
            <li key={message} class="entry-body">
              <span class={`state ${STATUS[severity].tone}`}>{severity}</span> <Name>{message}</Name>{' '}
              {since && (
                <span class="soft">
                  since <When at={since} />
                </span>
              )}
              {alarm && (
                <p class="hint">
                  <code>{alarm}</code>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      <section class="section">
        <h2>At a glance</h2>
        <dl class="figures">
          <Figure label="Event delay" value={stream.lag_ms} words={duration} />
          <Figure label="5xx responses" value={gateway.server_errors} />
          <Figure label="Failed invocations" value={functions.errors} />
          <Figure label="Throttled invocations" value={functions.throttles} />
          <Figure label="Throttled reads" value={table.read_throttles} />
          <Figure label="Throttled writes" value={table.write_throttles} />
          <div>
            <dt>Last sweep</dt>
            <dd>
              {sweep ? `${seconds(sweep.age_seconds)} ago` : <span class="hint">None yet</span>}
              {sweep && (
                <span class="hint">
                  {count(sweep.found)} overdue, {count(sweep.failed)} failed
                </span>
              )}
            </dd>
          </div>
        </dl>
        <p class="hint">Last 15 minutes. Updated {fullTime(health.as_of)}.</p>
      </section>
      <Table
        caption="Queues"
        heads={['Queue', 'Waiting', 'Oldest']}
        rows={queues.map(({ name, waiting, oldest_age_seconds }) => [
          name,
          measured(waiting),
          measured(oldest_age_seconds, seconds),
        ])}
      />
      <Table
        caption="Dead letters"
        heads={['Queue', 'Messages']}
        rows={dead.map(({ name, messages }) => [name, measured(messages)])}
      />
    </>
  )
}

export default function HealthScreen() {
  const known = useData('health', () => unwrap(api.GET('/admin/health')))
  return (
    <Screen
      title="Health"
      actions={
        <button type="button" aria-busy={known.loading} onClick={known.reload}>
          Refresh
        </button>
      }
    >
      <Shown known={known} rows={6}>
        {(health) => <Values health={health} />}
      </Shown>
    </Screen>
  )
}
