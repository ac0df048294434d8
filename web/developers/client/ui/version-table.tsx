import { count, duration, percent as formatPercent } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import type { Schemas } from '../api.ts'

type VersionStats = Schemas['AppStats']['versions'][number]

export const percent = (rate: number | null): string => (rate === null ? '–' : formatPercent(rate, 1))

const time = (ms: number | null | undefined): string => (ms === null || ms === undefined ? '–' : duration(ms))

/** Installations, runs, errors and durations of each version in a period. */
export const VersionTable = ({ versions }: { versions: readonly VersionStats[] }) =>
  versions.length === 0 ? (
    <p class="soft">{t('No runs or installations in this period.')}</p>
  ) : (
    /* biome-ignore lint/a11y/noNoninteractiveTabindex: scroll areas must be reachable with the keyboard */
    <section class="table" tabIndex={0} aria-label={t('By version')}>
      <table>
        <thead>
          <tr>
            {[t('Version'), t('Installed'), t('Runs'), t('Failed'), t('Succeeded'), t('Median'), t('95% within')].map(
              (name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {versions.map(({ version, installed, runs, failed, success_rate, duration_ms }) => (
            <tr key={version}>
              <th scope="row">{version}</th>
              <td>{count(installed)}</td>
              <td>{count(runs)}</td>
              <td>{count(failed)}</td>
              <td>{percent(success_rate)}</td>
              <td>{time(duration_ms?.p50)}</td>
              <td>{time(duration_ms?.p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
