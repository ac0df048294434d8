import { useId } from 'preact/hooks'
import { count } from './format.ts'

export interface Series {
  name: string
  tone: 'one' | 'two' | 'three'
  values: readonly number[]
}

const WIDTH = 600
const HEIGHT = 140

/** Gap between bars, as a fraction of a day's width. */
const GAP = 0.25

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Daily values as a stacked bar chart and as a table. */
export const DayChart = ({ title, days, series }: { title: string; days: readonly string[]; series: Series[] }) => {
  const id = useId()
  const sums = days.map((_, i) => total(series.map(({ values }) => values[i] ?? 0)))
  const most = Math.max(1, ...sums)
  const step = WIDTH / Math.max(1, days.length)
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
        </ul>
      </figcaption>
      {total(sums) === 0 && <p class="nothing soft">No activity in this period</p>}
      <svg
        hidden={total(sums) === 0}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${count(total(sums))} in ${days.length} days, at most ${count(most)} per day. Daily numbers are in the table below.`}
      >
        {days.map((day, i) => {
          let top = HEIGHT
          return (
            <g key={day}>
              <title>{`${day}: ${series.map(({ name, values }) => `${name} ${count(values[i] ?? 0)}`).join(', ')}`}</title>
              {/* Covers the whole column, so that hovering anywhere shows the tooltip. */}
              <rect class="column" x={i * step} y={0} width={step} height={HEIGHT} />
              {series.map(({ name, tone, values }) => {
                const height = ((values[i] ?? 0) / most) * (HEIGHT - 2)
                top -= height
                return (
                  <rect
                    key={name}
                    class={tone}
                    x={(i + GAP / 2) * step}
                    y={top}
                    width={step * (1 - GAP)}
                    height={height}
                  />
                )
              })}
            </g>
          )
        })}
      </svg>
      <p class="ends" aria-hidden="true">
        <span>{days[0]}</span>
        <span>{days.at(-1)}</span>
      </p>
      <details>
        <summary>{title} by day</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */}
        <section class="table days" tabIndex={0} aria-label={`${title} by day`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.map((day, i) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  {series.map(({ name, values }) => (
                    <td key={name}>{count(values[i] ?? 0)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  )
}
