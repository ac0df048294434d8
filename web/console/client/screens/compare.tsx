import type { ComponentChildren } from 'preact'
import { visible } from '../../../session/text.ts'
import { type Known, useData } from '../../../ui/data.ts'
import { Choice, Filters, filter } from '../../../ui/filters.tsx'
import { bytes, count, duration, fullTime, humanize, triggerLabel } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, Screen, Shown, Skeleton } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { diffWords, pairUp } from '../../../ui/text-diff.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { leavesOf, parseExact } from '../ui/exact-json.ts'
import { gistOf } from '../ui/run-row.tsx'
import { tokens } from '../ui/timeline.tsx'

type Run = Schemas['WorkspaceRun']
type Traced = Schemas['RunTrace']['runs'][number]

/** One of the two runs, with its trace. */
interface Side {
  run: Run
  own: Traced | undefined
}

const useSide = (id: string | undefined): Known<Side> => {
  const path = { id: id ?? '' }
  const run = useData<Run | undefined>(`runs one ${id}`, async () =>
    id ? unwrap(api.GET('/console/runs/{id}', { params: { path } })) : undefined,
  )
  const trace = useData(`runs trace ${id}`, async () =>
    id ? unwrap(api.GET('/console/runs/{id}/trace', { params: { path } })) : undefined,
  )
  const failure = run.failure ?? trace.failure
  return {
    ...(run.data && trace.data && { data: { run: run.data, own: trace.data.runs[0] } }),
    ...(failure && { failure }),
    loading: run.loading || trace.loading,
  }
}

/** Most values of an input or output that are compared. The rest is in each run's JSON. */
const MOST_VALUES = 200

/** Values by their places. */
const valuesOf = (value: object | null): Map<string, string> => {
  const text = JSON.stringify(value ?? {})
  if (text === '{}') return new Map()
  const exact = parseExact(text)
  return new Map(exact ? leavesOf(exact) : [['JSON', text]])
}

/** Text within quotes as people read it, without them. */
const plain = (text: string | undefined): string =>
  text?.startsWith('"') ? (JSON.parse(text) as string) : (text ?? '')

/** One side of a value, with the words marked that the other doesn’t have. */
const Words = ({ before, after, side }: { before: string; after: string; side: 'removed' | 'added' }) => (
  <span class="exact">
    {diffWords(before, after)
      .filter(({ kind }) => kind === 'same' || kind === side)
      .map(({ kind, text }, i) =>
        kind === 'removed' ? (
          <del key={i}>{visible(text)}</del>
        ) : kind === 'added' ? (
          <ins key={i}>{visible(text)}</ins>
        ) : (
          visible(text)
        ),
      )}
  </span>
)

const Missing = () => (
  <span class="soft">
    <span aria-hidden="true">–</span>
    <span class="unseen">{t('Not there')}</span>
  </span>
)

interface Line {
  name: ComponentChildren
  sides: [ComponentChildren, ComponentChildren]
  isSame: boolean
}

/** Two runs side by side. What differs is marked. @param times of the runs, where they are shown */
const Sides = ({ title, lines, times }: { title: string; lines: readonly Line[]; times?: [Side, Side] }) => (
  <section class="section">
    <h2>{title}</h2>
    <div class="table">
      <table class="compared">
        <colgroup>
          <col />
          <col span={2} />
        </colgroup>
        <thead class={times ? '' : 'unseen'}>
          <tr>
            <td />
            {[t('Other run'), t('This run')].map((name, i) => (
              <th key={name} scope="col">
                {name}
                {times && (
                  <a class="block" href={`#/runs/${times[i as 0 | 1].run.id}`}>
                    <When at={times[i as 0 | 1].run.created_at} />
                  </a>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, sides: [other, own], isSame }, i) => (
            <tr key={i} class={isSame ? undefined : 'differs'}>
              <th scope="row">
                {name}
                {!isSame && <span class="unseen"> {t('(differs)')}</span>}
              </th>
              <td>{other}</td>
              <td>{own}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </section>
)

/** An input or output. */
const Values = ({ title, other, own }: { title: string; other: object | null; own: object | null }) => {
  const [old, now] = [valuesOf(other), valuesOf(own)]
  const places = [...new Set([...old.keys(), ...now.keys()])]
  if (places.length === 0) return null
  const lines = places.slice(0, MOST_VALUES).map((place): Line => {
    const [was, is] = [old.get(place), now.get(place)]
    const [before, after] = [plain(was), plain(is)]
    return {
      name: visible(place),
      sides: [
        was === undefined ? <Missing /> : <Words before={before} after={after} side="removed" />,
        is === undefined ? <Missing /> : <Words before={before} after={after} side="added" />,
      ],
      isSame: was === is,
    }
  })
  return (
    <>
      <Sides title={title} lines={lines} />
      {places.length > MOST_VALUES && (
        <p class="hint">{t('Only the first {most} values are compared.', { most: count(MOST_VALUES) })}</p>
      )}
    </>
  )
}

const both = <T,>(sides: [Side, Side], of: (side: Side) => T): [T, T] => [of(sides[0]), of(sides[1])]

/** A fact that at least one of the runs has. @param show by default the value itself */
const fact = (
  name: string,
  sides: [Side, Side],
  of: (side: Side) => string | null | undefined,
  show: (side: Side) => ComponentChildren = of,
): Line[] => {
  const [before, after] = both(sides, of)
  if (!before && !after) return []
  return [{ name, sides: both(sides, (side) => (of(side) ? show(side) : <Missing />)), isSame: before === after }]
}

/** How much longer or shorter this run took than the other. */
const changeOf = ([{ run: other }, { run: own }]: [Side, Side]): string => {
  if (!other.duration_ms || own.duration_ms === null) return ''
  const percent = Math.round((own.duration_ms / other.duration_ms - 1) * 100)
  return percent === 0 ? '' : ` (${percent > 0 ? '+' : '−'}${count(Math.abs(percent))}%)`
}

const Facts = ({ sides }: { sides: [Side, Side] }) => {
  const time = ({ run }: Side) => run.duration_ms !== null && duration(run.duration_ms)
  const lines = [
    ...fact(
      t('Status'),
      sides,
      ({ run }) => run.status,
      ({ run }) => <State name={run.status} />,
    ),
    ...fact(
      t('Error'),
      sides,
      ({ run }) => run.error_code,
      ({ run }) => <code>{run.error_code}</code>,
    ),
    ...fact(
      t('Started by'),
      sides,
      ({ run }) => run.started_by?.name ?? triggerLabel(run.trigger),
      ({ run }) => (run.started_by ? <Name>{run.started_by.name}</Name> : triggerLabel(run.trigger)),
    ),
    ...fact(t('Version'), sides, ({ run }) => run.agent.version),
    ...fact(
      t('Duration'),
      sides,
      (side) => time(side) || '',
      (side) => (side === sides[1] ? `${time(side)}${changeOf(sides)}` : time(side)),
    ),
    ...fact(t('Steps'), sides, ({ own }) => count(own?.steps.length ?? 0)),
    ...fact(t('Tokens'), sides, ({ own }) => own?.tokens && tokens(own.tokens)),
    ...fact(t('Cost units'), sides, ({ run }) => (run.cost_units === null ? '' : count(run.cost_units))),
    ...fact(
      t('Size'),
      sides,
      ({ own }) =>
        own &&
        t('{input_bytes} in, {output_bytes} out', {
          input_bytes: bytes(own.input_bytes),
          output_bytes: bytes(own.output_bytes),
        }),
    ),
  ]
  return <Sides title={t('Summary')} lines={lines} times={sides} />
}

/** Steps of both runs. Those of the same kind, in the same order, share a row. */
const Steps = ({ sides }: { sides: [Side, Side] }) => {
  const lists = both(sides, ({ own }) => own?.steps ?? [])
  const [other, own] = [lists[0], lists[1]]
  const nameOf = ({ type, tool }: Traced['steps'][number]): string => tool ?? humanize(type)
  const time = (step: Traced['steps'][number] | undefined): ComponentChildren => {
    if (!step) return <Missing />
    const ms = step.ended_at ? Date.parse(step.ended_at) - Date.parse(step.started_at) : 0
    return (
      <>
        {ms > 0 ? duration(ms) : t('at once')} {step.status !== 'done' && <State name={step.status} />}
      </>
    )
  }
  const lines = pairUp(other.map(nameOf), own.map(nameOf)).map(({ before, after }): Line => {
    const [was, is] = [before === undefined ? undefined : other[before], after === undefined ? undefined : own[after]]
    const step = is ?? was
    return {
      name: step?.tool ? <code>{step.tool}</code> : visible(humanize(step?.type ?? '')),
      sides: [time(was), time(is)],
      isSame: was?.status === is?.status,
    }
  })
  return lines.length > 0 ? <Sides title={t('Steps')} lines={lines} /> : null
}

/** A run next to another one of the same agent: the one whose input it repeats, the one before, or one that the person chooses. */
export default function Compare({ id }: { id: string }) {
  const own = useSide(id)
  const agent = own.data?.run.installation_id
  const list = useData(`runs list of ${agent}`, async () =>
    agent
      ? unwrap(api.GET('/console/runs', { params: { query: { installation_id: agent, limit: 50 } } }))
      : { items: [], next_cursor: null },
  )
  const others = (list.data?.items ?? []).filter((run) => run.id !== id)
  const repeats = own.data?.run.repeats ?? ''
  const at = (list.data?.items ?? []).findIndex((run) => run.id === id)
  // Those before it follow it in the list.
  const before = others[at] ?? others[0]
  const chosen = filter('with') || repeats || before?.id
  const other = useSide(chosen)
  const labels = Object.fromEntries(
    others.map((run) => [
      run.id,
      [fullTime(run.created_at), humanize(run.status), visible(gistOf(run)).slice(0, 60)].filter(Boolean).join(' · '),
    ]),
  )
  return (
    <Screen title={t('Compare runs')} back={{ to: `/runs/${id}`, label: t('Run') }} wide>
      <Shown known={{ ...own, reload: () => location.reload() }} rows={8}>
        {(data) => {
          if (!chosen && list.data && agent) {
            return (
              <Empty title={t('This agent has no other run')}>
                <p>{t('Run it again to compare the results.')}</p>
              </Empty>
            )
          }
          return (
            <>
              <Filters>
                <Choice
                  name="with"
                  label={t('Compare with')}
                  all={chosen ? (labels[chosen] ?? t('an earlier run')) : ''}
                  options={labels}
                />
              </Filters>
              {other.failure && <Problem failure={other.failure} />}
              {other.data ? (
                <>
                  <Facts sides={[other.data, data]} />
                  <Values title={t('Input')} other={other.data.run.input} own={data.run.input} />
                  <Values title={t('Result')} other={other.data.run.output} own={data.run.output} />
                  <Steps sides={[other.data, data]} />
                </>
              ) : (
                !other.failure && <Skeleton rows={8} />
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
