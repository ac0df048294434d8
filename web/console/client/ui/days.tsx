import { t } from '../../../ui/messages.ts'
import type { Schemas } from '../api.ts'

type Day = Schemas['WorkspaceAnalytics']['daily'][number]

/** Runs by day, as a bar chart and as a table for screen readers. */
export const Days = ({ days }: { days: readonly Day[] }) => {
  const most = Math.max(1, ...days.map(({ runs }) => runs))
  return (
    <>
      <div class="bars" aria-hidden="true">
        {days.map((day) => (
          <span key={day.date} title={`${day.date}: ${day.runs}`}>
            <span style={{ height: `${(100 * day.runs) / most}%` }} />
          </span>
        ))}
      </div>
      <div class="unseen">
        <table>
          <caption>{t('Runs by day')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('Day')}</th>
              <th scope="col">{t('Runs')}</th>
              <th scope="col">{t('Failed')}</th>
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.date}>
                <th scope="row">{day.date}</th>
                <td>{day.runs}</td>
                <td>{day.failed}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
