import { useState } from 'preact/hooks'
import { useAct } from '../../../../ui/act.ts'
import { patch, useData } from '../../../../ui/data.ts'
import { duration, words } from '../../../../ui/format.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Json, Name, State, When } from '../../../../ui/text.tsx'
import { api, type Schemas, take } from '../../api.ts'

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
          {words(check.status)}
        </span>{' '}
        <strong>{words(check.id)}</strong>{' '}
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
          <Json label={`Evidence of ${words(check.id)}`} value={check.evidence} />
        )}
        <p class="hint">
          Looked at <When at={check.checked_at} /> · took {duration(check.duration_ms)}
        </p>
      </div>
    </details>
  </li>
)

const TestInstall = ({ app, version }: { app: string; version: string | undefined }) => {
  const [result, setResult] = useState<Schemas['TestRunResult']>()
  const { busy, failure, act } = useAct()
  return (
    <div class="test-install">
      <h3>Test installation</h3>
      <p class="soft">Installs it into a sandbox of moderation and starts one real run. It may take a minute.</p>
      <button
        type="button"
        aria-busy={busy}
        onClick={() =>
          act(async () => {
            setResult(
              await take(
                api.POST('/admin/apps/{id}/test-install', {
                  params: { path: { id: app } },
                  body: { input: {}, ...(version && { version }) },
                }),
              ),
            )
          })
        }
      >
        {busy ? 'The run is under way…' : 'Install and run'}
      </button>
      {failure && <Problem failure={failure} />}
      {result && (
        <div role="status">
          <p>
            <State name={result.run.status} /> Version {result.agent.version}, {words(result.agent.runtime_type)}
            {result.run.duration_ms !== null && result.run.duration_ms !== undefined && (
              <>, in {duration(result.run.duration_ms)}</>
            )}
          </p>
          <Json label="The run" value={result.run} />
        </div>
      )}
    </div>
  )
}

/** What the platform itself found out about a submission, each finding with what it was seen by. */
export const Checks = ({ app, waiting }: { app: string; waiting: Schemas['AppDossier']['waiting'] }) => {
  const version = waiting.find(({ kind }) => kind === 'version')?.id
  const ask = (fresh: 'true' | 'false'): Promise<Found> =>
    take(
      api.GET('/admin/apps/{id}/checks', {
        params: { path: { id: app }, query: { fresh, ...(version && { version }) } },
      }),
    )
  const key = `checks ${app} ${version ?? ''}`
  const known = useData(key, () => ask('false'))
  const { busy, failure, act } = useAct()
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
          Check again
        </button>
      </div>
      {failure && <Problem failure={failure} />}
      <Shown known={known}>
        {(found) => (
          <>
            <ul class="rows">
              {found.checks.map((check) => (
                <CheckView key={check.id} check={check} />
              ))}
            </ul>
            <p class="hint">
              {found.version && `Of version ${found.version.version}. `}Looked at <When at={found.checked_at} />.
            </p>
          </>
        )}
      </Shown>
      <TestInstall app={app} version={version} />
    </section>
  )
}
