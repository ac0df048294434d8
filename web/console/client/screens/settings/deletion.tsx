import { useAct } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { Confirm } from '../../../../ui/dialog.tsx'
import { fullTime } from '../../../../ui/format.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { enter, isOwner } from '../../account.ts'
import { api, take } from '../../api.ts'

export const Deletion = ({ deletesAt }: { deletesAt: string | null }) => {
  const { busy, failure, act } = useAct()
  if (deletesAt) {
    return (
      <>
        <p class="note warn">
          <strong>This workspace is being deleted.</strong> Everything in it is removed on {fullTime(deletesAt)}.
        </p>
        {failure && <Problem failure={failure} />}
        {isOwner.value && (
          <button
            type="button"
            class="primary"
            aria-busy={busy}
            onClick={() =>
              act(async () => {
                await take(api.POST('/console/workspace/restore'))
                announce('The workspace stays.')
                await enter()
              })
            }
          >
            Keep the workspace
          </button>
        )}
      </>
    )
  }
  return isOwner.value ? (
    <Confirm
      label="Delete the workspace"
      title="Delete this workspace?"
      verb="Delete it in 14 days"
      act={async () => {
        await take(api.DELETE('/console/workspace'))
        await enter()
      }}
    >
      <p>
        Its agents stop at once. After 14 days everything in it is removed: tasks, chats, files, runs. Until then an
        owner can take it back here.
      </p>
    </Confirm>
  ) : null
}
