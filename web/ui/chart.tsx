import { useId, useState } from 'preact/hooks'
import { count } from './format.ts'
import { language, t } from './messages.ts'

export interface Series {
  name: string
  tone: 'one' | 'two' | 'three'
  values: readonly number[]
}

const WIDTH = 600
const HEIGHT = 140

/** Gap between bars, as a fraction of a day's width. */
const GAP = 0.25

/** Most dates named below a chart. */
const DATES = 5

/** Rounds up to a number that is easy to read and, from 2 on, to halve: 1, 2, 4, 10, 20, 40, 100. */
const roundedUp = (most: number): number => {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return [1, 2, 4, 10].map((one) => one * size).find((one) => one >= most) ?? most
}

/** Indexes of the days that are named, evenly spread from the first to the last. */
export const namedDays = (days: number): number[] => {
  const named = Math.min(DATES, days)
  return named < 2 ? [0] : Array.from({ length: named }, (_, i) => Math.round((i * (days - 1)) / (named - 1)))
}

export const shortDay = (day: string): string =>
  new Date(`${day}T00:00Z`).toLocaleDateString(language, { month: 'short', day: 'numeric', timeZone: 'UTC' })

const shortNumber = (value: number): string =>
  new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }).format(value)

/** Says how a total compares with the one before: "+12%". */
const changeFrom = (before: number, now: number): string => {
  if (before === 0) return now === 0 ? '±0%' : t('new')
  const percent = Math.round((100 * (now - before)) / before)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent)}%`
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/**
 * Daily values as a stacked bar chart with axes, and as a table. The pointer and the arrow keys name the values of a day.
 * @param before totals of the same number of days before these, drawn as a line for comparison
 */
export const DayChart = ({
  title,
  days,
  series,
  before,
}: {
  title: string
  days: readonly string[]
  series: Series[]
  before?: readonly number[] | undefined
}) => {
  const id = useId()
  const sums = days.map((_, i) => total(series.map(({ values }) => values[i] ?? 0)))
  const most = Math.max(1, ...sums, ...(before ?? []))
  const top = roundedUp(most)
  const ticks = top === 1 ? [1, 0] : [top, top / 2, 0]
  const step = WIDTH / Math.max(1, days.length)
  const heightOf = (value: number): number => (value / top) * (HEIGHT - 2)
  const comparison =
    before && t('{total} in the {days} days before', { total: count(total(before)), days: days.length })
  const isEmpty = total(sums) === 0
  const [chosen, setChosen] = useState<number>()
  const last = days.length - 1
  const valuesOf = (i: number): string =>
    [
      ...series.map(({ name, values }) => `${name} ${count(values[i] ?? 0)}`),
      ...(before ? [t('before {value}', { value: count(before[i] ?? 0) })] : []),
    ].join(' · ')
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = {
      ArrowLeft: Math.max(0, (chosen ?? days.length) - 1),
      ArrowRight: Math.min(last, (chosen ?? -1) + 1),
      Home: 0,
      End: last,
      Escape: undefined,
    }
    if (!(event.key in to)) return
    event.preventDefault()
    setChosen(to[event.key as keyof typeof to])
  }
  return (
    <figure class="card chart" aria-labelledby={id}>
      <figcaption id={id}>
        <h3>{title}</h3>
        <ul class="legend">
          {series.map(({ name, tone, values }) => (
            <li key={name}>
              <span class={`swatch ${tone}`} aria-hidden="true" />
              {name} <strong>{count(total(values))}</strong>
            </li>
          ))}
          {before && (
            <li>
              <span class="swatch before" aria-hidden="true" />
              {t('Before')} <strong>{count(total(before))}</strong>{' '}
              <span class="soft">({changeFrom(total(before), total(sums))})</span>
            </li>
          )}
        </ul>
      </figcaption>
      {isEmpty && <p class="nothing soft">{t('No activity in this period')}</p>}
      <p class="readout" role="status" hidden={isEmpty}>
        {chosen !== undefined && (
          <>
            <strong>{shortDay(days[chosen] ?? '')}</strong> {valuesOf(chosen)}
          </>
        )}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div
        class="plot"
        hidden={isEmpty}
        role="group"
        aria-label={t('{title}: the arrow keys name the values of each day', { title })}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move through the days
        tabIndex={0}
        onKeyDown={onKeyDown}
        onBlur={() => setChosen(undefined)}
        onPointerLeave={() => setChosen(undefined)}
      >
        <p class="scale" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick}>{shortNumber(tick)}</span>
          ))}
        </p>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t(
            '{title}: {total} in {days, plural, one {# day} other {# days}}, at most {most} per day{comparison}. Daily numbers are in the table below.',
            {
              title,
              total: count(total(sums)),
              days: days.length,
              most: count(Math.max(...sums)),
              comparison: comparison ? `; ${comparison}` : '',
            },
          )}
        >
          {ticks.slice(0, -1).map((tick) => (
            <line key={tick} class="grid" x1={0} x2={WIDTH} y1={HEIGHT - heightOf(tick)} y2={HEIGHT - heightOf(tick)} />
          ))}
          {days.map((day, i) => {
            let at = HEIGHT
            return (
              <g key={day} onPointerEnter={() => setChosen(i)}>
                {/* Covers the whole column, so that the pointer can be anywhere in it. */}
                <rect
                  class={i === chosen ? 'column chosen' : 'column'}
                  x={i * step}
                  y={0}
                  width={step}
                  height={HEIGHT}
                />
                {series.map(({ name, tone, values }) => {
                  const height = heightOf(values[i] ?? 0)
                  at -= height
                  return (
                    <rect
                      key={name}
                      class={tone}
                      x={(i + GAP / 2) * step}
                      y={at}
                      width={step * (1 - GAP)}
                      height={height}
                    />
                  )
                })}
              </g>
            )
          })}
          {before && (
            <polyline
              class="before"
              points={before.map((value, i) => `${(i + 0.5) * step},${HEIGHT - heightOf(value)}`).join(' ')}
            />
          )}
        </svg>
        <p class="ends" aria-hidden="true">
          {namedDays(days.length).map((i) => (
            <span key={i}>{shortDay(days[i] ?? '')}</span>
          ))}
        </p>
      </div>
      <details>
        <summary>{t('{title} by day', { title })}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */}
        <section class="table days" tabIndex={0} aria-label={t('{title} by day', { title })}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('Day')}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                {before && <th scope="col">{t('Before')}</th>}
              </tr>
            </thead>
            <tbody>
              {days.map((day, i) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  {series.map(({ name, values }) => (
                    <td key={name}>{count(values[i] ?? 0)}</td>
                  ))}
                  {before && <td>{count(before[i] ?? 0)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  )
}
