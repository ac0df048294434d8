import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Confirm } from '../../../ui/dialog.tsx'
import { count } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { openSandbox } from '../open-sandbox.ts'
import { may, refusalOf } from '../ui/roles.ts'
import { Secret } from '../ui/secret.tsx'

const Samples = () => {
  const { busy, failure, act } = useAction()
  const seed = async (): Promise<void> => {
    const { tasks, runs, files } = await unwrap(api.POST('/api/v1/dev/sandbox/seed'))
    announce(
      t('The sandbox has {tasks} sample tasks, {runs} runs and {files} files.', {
        tasks: count(tasks),
        runs: count(runs),
        files: count(files),
      }),
    )
  }
  return (
    <section class="section card">
      <h2>{t('Sample records')}</h2>
      <p>{t('Tasks, finished runs, files and a conversation for the agents that are installed in the sandbox.')}</p>
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="button" aria-busy={busy} onClick={() => act(seed)}>
          {t('Fill with samples')}
        </button>
        <Confirm
          label={t('Delete the samples')}
          title={t('Delete the sample records?')}
          verb={t('Delete')}
          act={async () => {
            await unwrap(api.DELETE('/api/v1/dev/sandbox/seed'))
            announce(t('The sample records are deleted.'))
          }}
        >
          <p>{t('Only what was filled in is deleted, even if it was changed since.')}</p>
        </Confirm>
      </div>
    </section>
  )
}

const Open = () => {
  const { busy, failure, act } = useAction()
  return (
    <section class="section card">
      <h2>{t('Look around')}</h2>
      <p>
        {t(
          'Open the console as the sandbox’s owner, or as a sample customer: a member who talks to your agents and approves what they want to do.',
        )}
      </p>
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="button" class="primary" aria-busy={busy} onClick={() => act(() => openSandbox('owner'))}>
          {t('Open as the owner')}
        </button>
        <button type="button" aria-busy={busy} onClick={() => act(() => openSandbox('customer'))}>
          {t('Open as a customer')}
        </button>
      </div>
    </section>
  )
}

const Invite = () => {
  const [link, setLink] = useState<string>()
  const { busy, failure, act } = useAction()
  return (
    <section class="section card">
      <h2>{t('Invite somebody')}</h2>
      <p>
        {t(
          'One person can join the sandbox as an owner with this code, through the platform’s bot. A new code ends the previous one.',
        )}
      </p>
      {failure && <Problem failure={failure} />}
      {link && (
        <Secret
          label={t('Start parameter')}
          hint={t('Valid for 7 days, for one person. Shown only once.')}
          value={link}
        />
      )}
      <div class="actions">
        <button
          type="button"
          aria-busy={busy}
          onClick={() => act(async () => setLink((await unwrap(api.POST('/api/v1/dev/sandbox/invite'))).invite_link))}
        >
          {t('Get a code')}
        </button>
      </div>
    </section>
  )
}

export default function Sandbox() {
  const workspace = identity.value?.sandbox_workspace
  const refused = refusalOf('POST /api/v1/dev/sandbox/session')
  return (
    <Screen title={t('Sandbox')}>
      <p>
        {rich('Your own workspace to test in: {name} {id}. Nothing in it counts in your figures.', {
          name: <Name>{workspace?.name ?? ''}</Name>,
          id: <code>{workspace?.id}</code>,
        })}
      </p>
      {may('POST /api/v1/dev/sandbox/session') && <Open />}
      {may('POST /api/v1/dev/sandbox/seed') && may('DELETE /api/v1/dev/sandbox/seed') && <Samples />}
      {may('POST /api/v1/dev/sandbox/invite') && <Invite />}
      {refused && <p class="hint">{refused}</p>}
    </Screen>
  )
}
