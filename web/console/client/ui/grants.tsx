import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Logo, Name, State, When } from '../../../ui/text.tsx'
import { identity, isAdmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { ScopeList } from './scopes.tsx'

/** Pauses or resumes a grant. */
const Pause = ({ grant }: { grant: Schemas['Grant'] }) => {
  const { busy, failure, act } = useAction()
  const isPaused = grant.paused_at !== null
  const turn = async (): Promise<void> => {
    const params = { path: { id: grant.id } }
    await unwrap(
      isPaused
        ? api.POST('/console/grants/{id}/resume', { params })
        : api.POST('/console/grants/{id}/pause', { params }),
    )
    announce(isPaused ? t('Access resumed.') : t('Access paused.'))
    await refresh('installations')
  }
  return (
    <>
      {failure && <Problem failure={failure} />}
      <button type="button" aria-busy={busy} onClick={() => act(turn)}>
        {isPaused ? t('Resume access') : t('Pause access')}
      </button>
    </>
  )
}

/** A grant to an app, with the option to revoke it. */
export const GrantCard = ({ grant }: { grant: Schemas['Grant'] }) => {
  const mayRevoke = isAdmin.value || grant.approved_by?.id === identity.value?.user.id
  return (
    <article class="card" aria-label={grant.app.name}>
      <div class="row plain">
        <Logo name={grant.app.name} path={grant.app.logo_path} />
        <span class="grow">
          <strong>
            <a href={`#/agents/${grant.installation_id}`}>
              <Name>{grant.app.name}</Name>
            </a>
            {grant.app.verified && <span class="soft"> {t('· ✓ verified')}</span>}
          </strong>
          <span class="soft">
            {grant.approved_by && <>{rich('Approved by {name}', { name: <Name>{grant.approved_by.name}</Name> })} </>}
            <When at={grant.created_at} /> ·{' '}
            {grant.last_used_at
              ? rich('last used {time}', { time: <When at={grant.last_used_at} /> })
              : t('never used')}
          </span>
        </span>
        {grant.paused_at && <State name="paused" label={t('Paused')} />}
      </div>
      <details class="folded">
        <summary>
          {t('Permissions')} <span class="soft">{grant.scopes.length}</span>
        </summary>
        <ScopeList scopes={grant.scopes} />
      </details>
      {grant.paused_at && <p class="soft">{t('Its requests are refused until an admin resumes it.')}</p>}
      {mayRevoke && (
        <div class="actions">
          {isAdmin.value && <Pause grant={grant} />}
          <Confirm
            label={t('Revoke access')}
            title={t('Revoke {name}’s access?', { name: grant.app.name })}
            verb={t('Revoke access')}
            act={async () => {
              await unwrap(api.DELETE('/console/grants/{id}', { params: { path: { id: grant.id } } }))
              announce(t('Access revoked.'))
              await refresh('installations')
            }}
          >
            <p>
              {t(
                'The app’s requests with this access are rejected from now on, those of its running agents included. The agent stays installed. If this was its only access, its runs are cancelled until somebody reconnects it.',
              )}
            </p>
          </Confirm>
        </div>
      )}
    </article>
  )
}
