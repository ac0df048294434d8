import { useEffect } from 'preact/hooks'
import { t } from '../../../ui/messages.ts'
import { place } from '../../../ui/router.ts'
import { Screen } from '../../../ui/screen.tsx'
import { identity, switchWorkspace } from '../account.ts'
import { addressOf } from '../places.ts'

/** Opens the record that a link of an e-mail names, in its workspace if the person is still in it. */
export default function Open({ id }: { id: string }) {
  useEffect(() => {
    const workspace = place.value.query.get('in')
    const who = identity.value
    location.replace(`#${addressOf(id) ?? '/notifications'}`)
    if (workspace && workspace !== who?.workspace.id && who?.workspaces.some((one) => one.id === workspace))
      void switchWorkspace(workspace)
  }, [id])
  return <Screen title={t('Opening…')}>{null}</Screen>
}
