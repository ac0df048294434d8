import { useAction } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { Confirm } from '../../../../ui/dialog.tsx'
import { fullTime } from '../../../../ui/format.ts'
import { rich, t } from '../../../../ui/messages.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { isOwner, openConsole } from '../../account.ts'
import { api, unwrap } from '../../api.ts'

export const Deletion = ({ name, deletesAt }: { name: string; deletesAt: string | null }) => {
  const { busy, failure, act } = useAction()
  if (deletesAt) {
    return (
      <>
        <p class="note warn">
          {rich(
            '<strong>This workspace is scheduled for deletion.</strong> Everything in it will be deleted on {deletesAt}.',
            { strong: (text) => <strong>{text}</strong>, deletesAt: fullTime(deletesAt) },
          )}
        </p>
        {failure && <Problem failure={failure} />}
        {isOwner.value && (
          <button
            type="button"
            class="primary"
            aria-busy={busy}
            onClick={() =>
              act(async () => {
                await unwrap(api.POST('/console/workspace/restore'))
                announce(t('Deletion cancelled.'))
                await openConsole()
              })
            }
          >
            {t('Keep workspace')}
          </button>
        )}
      </>
    )
  }
  return isOwner.value ? (
    <Confirm
      label={t('Delete workspace')}
      title={t('Delete this workspace?')}
      verb={t('Delete it in 14 days')}
      typed={name}
      act={async () => {
        await unwrap(api.DELETE('/console/workspace'))
        await openConsole()
      }}
    >
      <p>
        {t(
          'Its agents stop right away. After 14 days, its tasks, conversations, files, runs and everything else will be deleted. Until then, an owner can cancel the deletion here.',
        )}
      </p>
    </Confirm>
  ) : null
}
