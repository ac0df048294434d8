import { namedDays, shortDay } from '../../../ui/chart.tsx'
import { duration } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'

const WIDTH = 600
const HEIGHT = 140

interface Day {
  date: string
  p50: number | null
  p95: number | null
}

/** Longest bound of the buckets that durations are counted in. Longer ones have no number. */
const LONGEST = 300_000

/** Ends of the axis, so that it and its half are easy to read. */
const TOPS = [100, 200, 400, 1_000, 2_000, 4_000, 10_000, 20_000, 60_000, 120_000]

const textOf = (ms: number | null, isKnown: boolean): string =>
  ms === null ? (isKnown ? t('over {LONGEST}', { LONGEST: duration(LONGEST) }) : '–') : duration(ms)

/** The median and the 95th percentile of each day, as lines with an axis, and as a table. */
export const DurationChart = ({ days }: { days: readonly { date: string; durations: Omit<Day, 'date'> | null }[] }) => {
  const values = days.flatMap(({ durations }) =>
    durations ? [durations.p50 ?? LONGEST, durations.p95 ?? LONGEST] : [],
  )
  const top = TOPS.find((one) => values.every((value) => value <= one)) ?? LONGEST
  const x = (i: number): number => ((i + 0.5) * WIDTH) / Math.max(1, days.length)
  const y = (ms: number): number => HEIGHT - (ms / top) * (HEIGHT - 4) - 2
  const line = (of: 'p50' | 'p95') =>
    days.flatMap(({ durations }, i) => (durations ? [`${x(i)},${y(durations[of] ?? LONGEST)}`] : []))
  return (
    <figure class="card chart" aria-labelledby="durations">
      <figcaption id="durations">
        <h3>{t('Durations')}</h3>
        <ul class="legend">
          <li>{rich('{span}Median', { span: <span class="swatch one" aria-hidden="true" /> })}</li>
          <li>{rich('{span}95% within', { span: <span class="swatch late" aria-hidden="true" /> })}</li>
        </ul>
      </figcaption>
      {values.length === 0 ? (
        <p class="nothing soft">{t('No runs in this period')}</p>
      ) : (
        <div class="plot">
          <p class="scale" aria-hidden="true">
            <span>{duration(top)}</span>
            <span>{duration(top / 2)}</span>
            <span>0</span>
          </p>
          <svg
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={t('Durations of {days} days. Daily numbers are in the table below.', { days: days.length })}
          >
            {[top, top / 2].map((tick) => (
              <line key={tick} class="grid" x1={0} x2={WIDTH} y1={y(tick)} y2={y(tick)} />
            ))}
            <polyline class="late" points={line('p95').join(' ')} />
            <polyline class="median" points={line('p50').join(' ')} />
            {days.map(({ date, durations }, i) => (
              <g key={date}>
                <title>
                  {t('{date}: median {p50}, 95% within {p95}', {
                    date,
                    p50: textOf(durations?.p50 ?? null, durations !== null),
                    p95: textOf(durations?.p95 ?? null, durations !== null),
                  })}
                </title>
                <rect
                  class="column"
                  x={x(i) - WIDTH / days.length / 2}
                  y={0}
                  width={WIDTH / days.length}
                  height={HEIGHT}
                />
                {durations && <circle class="dot" cx={x(i)} cy={y(durations.p95 ?? LONGEST)} r={2} />}
                {durations && <circle class="dot" cx={x(i)} cy={y(durations.p50 ?? LONGEST)} r={2} />}
              </g>
            ))}
          </svg>
          <p class="ends" aria-hidden="true">
            {namedDays(days.length).map((i) => (
              <span key={i}>{shortDay(days[i]?.date ?? '')}</span>
            ))}
          </p>
        </div>
      )}
      <details>
        <summary>{t('Durations by day')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */}
        <section class="table days" tabIndex={0} aria-label={t('Durations by day')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('Day')}</th>
                <th scope="col">{t('Median')}</th>
                <th scope="col">{t('95% within')}</th>
              </tr>
            </thead>
            <tbody>
              {days.map(({ date, durations }) => (
                <tr key={date}>
                  <th scope="row">{date}</th>
                  <td>{textOf(durations?.p50 ?? null, durations !== null)}</td>
                  <td>{textOf(durations?.p95 ?? null, durations !== null)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  )
}
