import { miniApp } from '../../../session/config.ts'
import { postEvent } from '../../../session/messenger.ts'
import { safeUrl } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'

/** A file name that downloads the file. The URL is requested on each press, because it expires within minutes. */
export const Download = ({ id, name }: { id: string; name: string }) => {
  const { busy, act } = useAction()
  const open = async (): Promise<void> => {
    const ok = await act(async () => {
      const { download_url } = await unwrap(api.GET('/console/files/{id}/download', { params: { path: { id } } }))
      const url = safeUrl(download_url)
      if (!url) throw new Error('not an address')
      if (miniApp) return postEvent('web_app_open_link', { url })
      const link = document.createElement('a')
      link.href = url
      link.rel = 'noopener noreferrer'
      link.click()
    })
    if (!ok) announce('The file couldn’t be downloaded. Try again in a moment.')
  }
  return (
    <button type="button" class="quiet file" aria-busy={busy} onClick={open}>
      <span class="unseen">Download </span>
      <Name>{name}</Name>
    </button>
  )
}
