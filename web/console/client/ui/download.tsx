import { miniApp } from '../../../session/config.ts'
import { postEvent } from '../../../session/messenger.ts'
import { safeUrl } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { t } from '../../../ui/messages.ts'
import { Name } from '../../../ui/text.tsx'
import { api, unwrap } from '../api.ts'

/**
 * A file name, or an icon, that downloads the file. The URL is requested on each press, because it expires within minutes.
 * @param as `icon` where the name stands next to it, `button` with the word
 */
export const Download = ({ id, name, as }: { id: string; name: string; as?: 'icon' | 'button' }) => {
  const { busy, act } = useAction()
  const open = async (): Promise<void> => {
    const ok = await act(async () => {
      const params = { path: { id }, query: {} }
      const { download_url } = await unwrap(api.GET('/console/files/{id}/download', { params }))
      const url = safeUrl(download_url)
      if (!url) throw new Error('not an address')
      if (miniApp) return postEvent('web_app_open_link', { url })
      const link = document.createElement('a')
      link.href = url
      link.rel = 'noopener noreferrer'
      link.click()
    })
    if (!ok) announce(t('The file couldn’t be downloaded. Try again in a moment.'))
  }
  return (
    <button type="button" class={as === 'button' ? '' : `quiet ${as ?? 'file'}`} aria-busy={busy} onClick={open}>
      {as && <Icon name="download" />}
      <span class={as === 'button' ? '' : 'unseen'}>{t('Download')} </span>
      <span class={as ? 'unseen' : ''}>
        <Name>{name}</Name>
      </span>
    </button>
  )
}
