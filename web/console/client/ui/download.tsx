import { miniApp } from '../../../session/config.ts'
import { tell } from '../../../session/messenger.ts'
import { webAddress } from '../../../session/text.ts'
import { useAct } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, take } from '../api.ts'

/** A file’s name that downloads it. Its address is asked for when it is pressed: it works for minutes only. */
export const Download = ({ id, name }: { id: string; name: string }) => {
  const { busy, act } = useAct()
  const open = async (): Promise<void> => {
    const ok = await act(async () => {
      const { download_url } = await take(api.GET('/console/files/{id}/download', { params: { path: { id } } }))
      const url = webAddress(download_url)
      if (!url) throw new Error('not an address')
      if (miniApp) return tell('web_app_open_link', { url })
      const link = document.createElement('a')
      link.href = url
      link.rel = 'noopener noreferrer'
      link.click()
    })
    if (!ok) announce('The file cannot be downloaded now.')
  }
  return (
    <button type="button" class="quiet file" aria-busy={busy} onClick={open}>
      <span class="unseen">Download </span>
      <Name>{name}</Name>
    </button>
  )
}
