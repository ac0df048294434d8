import { useRef, useState } from 'preact/hooks'
import { useAction } from '../../../../ui/act.ts'
import { patch, useData } from '../../../../ui/data.ts'
import { duration, humanize } from '../../../../ui/format.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Json, Name, State, When } from '../../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../../api.ts'

type Found = Schemas['SubmissionChecks']
type Check = Found['checks'][number]

const TONES: Record<Check['status'], string> = { passed: 'good', failed: 'bad', warning: 'warn', skipped: 'plain' }
const MARKS: Record<Check['status'], string> = { passed: '✓', failed: '✕', warning: '!', skipped: '–' }

const CheckView = ({ check }: { check: Check }) => (
  <li>
    <details class="entry" {...(check.status === 'failed' && { open: true })}>
      <summary>
        <span class={`state ${TONES[check.status]}`}>
          <span aria-hidden="true">{MARKS[check.status]} </span>
          {humanize(check.status)}
        </span>{' '}
        <strong>{humanize(check.id)}</strong>{' '}
        <span class="soft">
          <Name>{check.message}</Name>
        </span>
      </summary>
      <div class="evidence">
        {check.fix && (
          <p>
            <Name>{check.fix}</Name>
          </p>
        )}
        {Object.keys(check.evidence).length > 0 && (
          <Json label={`Evidence of ${humanize(check.id)}`} value={check.evidence} />
        )}
        <p class="hint">
          Checked <When at={check.checked_at} /> · took {duration(check.duration_ms)}
        </p>
      </div>
    </details>
  </li>
)

const TestInstall = ({ app, version }: { app: string; version: string | undefined }) => {
  const [result, setResult] = useState<Schemas['TestRunResult']>()
  const { busy, failure, act } = useAction()
  return (
    <div class="test-install">
      <h3>Test installation</h3>
      <p class="soft">Installs the app in a moderation sandbox and starts a real run. This can take a minute.</p>
      <button
        type="button"
        aria-busy={busy}
        onClick={() =>
          act(async () => {
            setResult(
              await unwrap(
                api.POST('/admin/apps/{id}/test-install', {
                  params: { path: { id: app } },
                  body: { input: {}, ...(version && { version }) },
                }),
              ),
            )
          })
        }
      >
        {busy ? 'Running…' : 'Install and run'}
      </button>
      {failure && <Problem failure={failure} />}
      {result && (
        <div role="status">
          <p>
            <State name={result.run.status} /> Version {result.agent.version}, {humanize(result.agent.runtime_type)}
            {result.run.duration_ms !== null && result.run.duration_ms !== undefined && (
              <>, in {duration(result.run.duration_ms)}</>
            )}
          </p>
          <Json label="Run" value={result.run} />
        </div>
      )}
    </div>
  )
}

/** Loads the automatic checks of a submission. They are of the version that waits, if one does. */
export const useChecks = (app: string, waiting: Schemas['AppDossier']['waiting']) => {
  const version = waiting.find(({ kind }) => kind === 'version')?.id
  const ask = (fresh: 'true' | 'false'): Promise<Found> =>
    unwrap(
      api.GET('/admin/apps/{id}/checks', {
        params: { path: { id: app }, query: { fresh, ...(version && { version }) } },
      }),
    )
  const key = `checks ${app} ${version ?? ''}`
  return { version, ask, key, known: useData(key, () => ask('false')) }
}

/** Automatic checks of a submission, each with its evidence. */
export const Checks = ({ app, waiting }: { app: string; waiting: Schemas['AppDossier']['waiting'] }) => {
  const { version, ask, key, known } = useChecks(app, waiting)
  // A decision makes them those of another version. The old ones stay until then, so that what is below them keeps its place.
  const latest = useRef<Found | undefined>(undefined)
  latest.current = known.data ?? latest.current
  const { busy, failure, act } = useAction()
  return (
    <section class="section">
      <div class="head">
        <h2>Automatic checks</h2>
        <button
          type="button"
          aria-busy={busy}
          onClick={() =>
            act(async () => {
              const found = await ask('true')
              patch<Found>(key, () => found)
            })
          }
        >
          Run checks again
        </button>
      </div>
      {failure && <Problem failure={failure} />}
      <Shown known={{ ...known, ...(latest.current && { data: latest.current }) }}>
        {(found) => (
          <>
            <ul class="rows">
              {found.checks.map((check) => (
                <CheckView key={check.id} check={check} />
              ))}
            </ul>
            <p class="hint">
              {found.version && `Version ${found.version.version}. `}Checked <When at={found.checked_at} />.
            </p>
          </>
        )}
      </Shown>
      <TestInstall app={app} version={version} />
    </section>
  )
}
