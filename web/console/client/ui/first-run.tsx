import { useEffect, useState } from 'preact/hooks'
import { localSignIn } from '../../../session/config.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { identity } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { end, FirstRunSkeleton, isOver } from './first-run-place.tsx'

interface Step {
  title: string
  why: string
  /** Undefined while there is nothing to open. */
  to: string | undefined
  verb: string
  done: boolean
  /** The platform's sample agent does for this step. */
  offersSample?: boolean
}

/** Fills the workspace of a local run with sample records. */
const FillDemo = () => {
  const { busy, failure, act } = useAction()
  const fill = async (): Promise<void> => {
    await unwrap(api.POST('/console/demo'))
    announce(t('The workspace has sample tasks, runs and notifications now.'), { to: '/tasks', label: t('View') })
    await refresh('installations', 'runs', 'tasks', 'notifications')
  }
  return (
    <>
      {failure && <Problem failure={failure} />}
      <button type="button" aria-busy={busy} onClick={() => act(fill)}>
        {t('Fill with a demo')}
      </button>
    </>
  )
}

/** Installs the sample agent in one click. */
const InstallSample = () => {
  const { busy, failure, act } = useAction()
  const install = async (): Promise<void> => {
    const { id } = await unwrap(api.POST('/console/sample-agent'))
    announce(t('The sample agent was installed.'), { to: `/agents/${id}`, label: t('View') })
    await refresh('installations')
  }
  return (
    <>
      {failure && <Problem failure={failure} />}
      <button type="button" aria-busy={busy} onClick={() => act(install)}>
        {t('Install the sample agent')}
      </button>
    </>
  )
}

const Steps = ({ workspaceId, onOver }: { workspaceId: string; onOver: () => void }) => {
  const agents = useData('installations all', () =>
    unwrap(api.GET('/console/installations', { params: { query: { limit: 100 } } })),
  )
  const figures = useData('runs figures', () =>
    unwrap(api.GET('/console/analytics', { params: { query: { days: '14' } } })),
  )
  const members = useData('members first', () =>
    unwrap(api.GET('/console/members', { params: { query: { limit: 2 } } })),
  )
  const invitations = useData('invitations first', () =>
    unwrap(api.GET('/console/invitations', { params: { query: { limit: 1 } } })),
  )
  const isLoaded = Boolean(agents.data && figures.data && members.data && invitations.data)
  const installed = (agents.data?.items ?? []).filter(({ status }) => status !== 'revoked')
  const unfinished = installed.find(({ settings_complete }) => !settings_complete)
  const steps: Step[] = [
    {
      title: t('Install an agent'),
      why: t('The marketplace says what each agent can do and which permissions it needs.'),
      to: '/marketplace',
      verb: t('Open the marketplace'),
      done: installed.length > 0,
      offersSample: true,
    },
    {
      title: t('Configure it'),
      why: t('Some agents need settings, such as an address or a key, before they can work.'),
      to: unfinished && `/agents/${unfinished.id}`,
      verb: t('Open its settings'),
      done: installed.length > 0 && !unfinished,
    },
    {
      title: t('Ask something'),
      why: t('Write in a conversation as you would to a colleague. You approve what agents do on your behalf.'),
      to: '/chat',
      verb: t('Start a conversation'),
      done: (figures.data?.runs ?? 0) > 0,
    },
    {
      title: t('Invite someone'),
      why: t('People in the workspace share its agents, tasks and files.'),
      to: '/members',
      verb: t('Invite a colleague'),
      done: (members.data?.items.length ?? 0) > 1 || (invitations.data?.items.length ?? 0) > 0,
    },
  ]
  const done = steps.filter((step) => step.done).length
  const isDone = isLoaded && done === steps.length
  useEffect(() => {
    if (!isDone) return
    end(workspaceId)
    onOver()
  }, [isDone])
  if (isDone) return null
  if (!isLoaded) return <FirstRunSkeleton />
  const next = steps.find((step) => !step.done)
  return (
    <section class="card first-run" aria-labelledby="first-run">
      <div class="head">
        <h2 id="first-run">{t('Get started')}</h2>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            end(workspaceId)
            onOver()
          }}
        >
          {rich('Hide<span> the steps</span>', { span: (text) => <span class="unseen">{text}</span> })}
        </button>
      </div>
      <p class="soft">{t('{done} of {steps} steps done', { done, steps: steps.length })}</p>
      <ol class="plain">
        {steps.map((step) => (
          <li key={step.title} class={step.done ? 'done' : ''}>
            <span class="tick-mark" aria-hidden="true">
              {step.done ? '✓' : ''}
            </span>
            <div>
              <strong>{step.title}</strong>
              {step.done && <span class="unseen"> {t('(done)')}</span>}
              {!step.done && <p class="hint">{step.why}</p>}
              {!step.done && step.offersSample && (
                <p class="hint">
                  {t('To look around first, install the sample agent. It answers by fixed rules and needs no key.')}
                </p>
              )}
              {!step.done && (step.to || step.offersSample) && (
                <div class="actions">
                  {step.to && (
                    <a class={step === next ? 'button primary' : 'button'} href={`#${step.to}`}>
                      {step.verb}
                    </a>
                  )}
                  {step.offersSample && <InstallSample />}
                  {step.offersSample && localSignIn && <FillDemo />}
                </div>
              )}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** The first steps in a workspace, for its admins, until they are done or hidden. */
export const FirstRun = () => {
  const id = identity.value?.workspace.id ?? ''
  const [, setOver] = useState(0)
  return isOver(id) ? null : <Steps key={id} workspaceId={id} onOver={() => setOver((n) => n + 1)} />
}
