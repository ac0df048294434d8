import { useEffect, useRef, useState } from 'preact/hooks'
import { loadItem, saveItem } from '../../../session/store.ts'
import { useAction } from '../../../ui/act.ts'
import { refresh } from '../../../ui/data.ts'
import { TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { place } from '../../../ui/router.ts'
import { Json, State } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'
import { type SandboxSchemas, sandboxOf } from '../sandbox.ts'
import { type App, AppScreen } from '../ui/app-screen.tsx'
import { EventSchedules } from '../ui/event-schedules.tsx'
import { RunTimeline } from '../ui/nested-run.tsx'
import { refusalOf } from '../ui/roles.ts'
import { RunError } from '../ui/run-error.tsx'

type Run = SandboxSchemas['Run']

/** Pause between looks at a run in progress, in milliseconds. */
const LOOK_MS = 700

const START = '{\n  "question": "How many are in stock?"\n}'

const inputKey = (app: string): string => `test-input ${app}`

const parsed = (text: string): Record<string, unknown> | undefined => {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the newest run since a time, with its steps, or undefined if the sandbox can't show it. */
const findRun = async (app: string, since: number): Promise<Run | undefined> => {
  const { client, take } = sandboxOf(app)
  const { items } = await take(client.GET('/api/v1/runs', { params: { query: { limit: 5 } } }))
  const found = items.find(({ created_at, trigger }) => trigger === 'test' && Date.parse(created_at) >= since)
  return found && take(client.GET('/api/v1/runs/{id}', { params: { path: { id: found.id } } }))
}

const Test = ({ app }: { app: App }) => {
  const given = place.value.query.get('run')
  const [text, setText] = useState(() => loadItem<string>(inputKey(app.id)) ?? START)
  const [run, setRun] = useState<Run>()
  const { busy, failure, act } = useAction()
  const isRunning = useRef(false)
  useEffect(() => saveItem(inputKey(app.id), text), [app.id, text])
  useEffect(() => {
    // "Run again": takes over the input of a run in the sandbox.
    if (!given) return
    const { client, take } = sandboxOf(app.id)
    take(client.GET('/api/v1/runs/{id}', { params: { path: { id: given } } })).then(
      ({ input }) => setText(JSON.stringify(input, null, 2)),
      () => {},
    )
  }, [app.id, given])
  useEffect(
    () => () => {
      isRunning.current = false
    },
    [],
  )
  const input = parsed(text)
  const refused = refusalOf('POST /api/v1/dev/apps/{id}/test-run')
  const follow = async (since: number): Promise<void> => {
    while (isRunning.current) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      const now = await findRun(app.id, since).catch(() => undefined)
      if (now && isRunning.current) setRun(now)
    }
  }
  const send = async (): Promise<void> => {
    setRun(undefined)
    isRunning.current = true
    // Clocks differ, so a run of up to a few seconds ago may be this one. An earlier one has ended by now.
    void follow(Date.now() - 2_000)
    try {
      const params = { path: { id: app.id } }
      const { run: ended } = await unwrap(
        api.POST('/api/v1/dev/apps/{id}/test-run', { params, body: { input: input as never } }),
      )
      isRunning.current = false
      setRun(ended as Run)
      await refresh('app')
    } finally {
      isRunning.current = false
    }
  }
  return (
    <div class="halves">
      <section>
        <h2>{t('Run it in the sandbox')}</h2>
        <p class="soft">
          {t('Installs the newest version into your sandbox and sends it one real, signed run. Nobody else sees it.')}
        </p>
        {refused ? (
          <p class="hint">{refused}</p>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              void act(send)
            }}
          >
            <TextField
              label={t('Input')}
              hint={t('A JSON object, as a customer’s run has it.')}
              rows={8}
              value={text}
              spellcheck={false}
              problem={input ? undefined : t('This isn’t a JSON object.')}
              onText={setText}
            />
            {failure && <Problem failure={failure} />}
            <div class="actions">
              <button type="submit" class="primary" aria-busy={busy} disabled={!input}>
                {busy ? t('Running…') : t('Run')}
              </button>
            </div>
          </form>
        )}
      </section>
      <section aria-live="polite">
        <h2>{t('What happens')}</h2>
        {run ? (
          <>
            <p>
              <State name={run.status} />{' '}
              <span class="soft">{t('Version {version}', { version: run.agent.version })}</span>{' '}
              <a href={`#/apps/${app.id}/runs/${run.id}`}>{t('Open the run')}</a>
            </p>
            <RunError run={run} />
            <RunTimeline run={run} app={app.id} />
            {run.output && (
              <>
                <h3>{t('Result')}</h3>
                <Json label={t('Result')} value={run.output} />
              </>
            )}
          </>
        ) : (
          <p class="soft">{busy ? t('Waiting for the agent…') : t('The steps appear here while the agent works.')}</p>
        )}
      </section>
    </div>
  )
}

export default function TestScreen({ id }: { id: string }) {
  return (
    <AppScreen id={id} title={t('Test')}>
      {(app) => (
        <>
          <Test app={app} />
          <EventSchedules app={app} />
        </>
      )}
    </AppScreen>
  )
}
