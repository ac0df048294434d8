import { useEffect, useRef, useState } from 'preact/hooks'
import { localSignIn, resolveUrl } from '../../session/config.ts'
import { hasPasskeys } from '../../session/passkey.ts'
import { lastName } from '../../session/session.ts'
import { addWidget, loadBotInfo, signInLocally, signInWithPasskey, widgetUsername } from '../../session/sign-in.ts'
import { safeUrl } from '../../session/text.ts'
import type { BotInfo } from '../../session/types.ts'
import { Brand } from '../../ui/brand.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { t } from '../../ui/messages.ts'
import { saveAddress, signInWith, WIDGET_PLACE } from './account.ts'

const Widget = ({ username }: { username: string }) => {
  const parent = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!parent.current) return
    saveAddress()
    addWidget(parent.current, username, resolveUrl('app'), WIDGET_PLACE)
  }, [username])
  return <div class="widget" ref={parent} />
}

const WithPasskey = () => (
  <Form verb={t('Use a passkey')} send={async () => signInWith(await signInWithPasskey())}>
    <p class="hint">{t('If you added a passkey in the console’s settings, you can sign in without Telegram.')}</p>
  </Form>
)

const Locally = () => {
  const [user, setUser] = useState(lastName() ?? 'local-user')
  const [workspace, setWorkspace] = useState('')
  return (
    <Form verb={t('Sign in')} send={async () => signInWith(await signInLocally(user.trim(), workspace.trim()))}>
      <p class="hint">
        {t(
          'Local development: enter any name. The same name always signs in the same person or opens the same workspace.',
        )}
      </p>
      <TextField label={t('Person')} value={user} required maxLength={100} autocomplete="off" onText={setUser} />
      <TextField
        label={t('Workspace')}
        hint={t('Optional. Defaults to your own. You can also enter a workspace ID.')}
        value={workspace}
        maxLength={100}
        autocomplete="off"
        onText={setWorkspace}
      />
    </Form>
  )
}

/** Sign-in methods. @param note why the page asks */
export default function SignIn({ note }: { note: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const [bot, setBot] = useState<BotInfo | 'asking' | undefined>('asking')
  useEffect(() => {
    document.title = t('Sign in · Console')
    heading.current?.focus({ preventScroll: true })
    loadBotInfo().then(setBot)
  }, [])
  const known = bot === 'asking' ? undefined : bot
  const url = safeUrl(known?.url)
  const widget = widgetUsername(known)
  return (
    <main class="alone">
      <Brand />
      <h1 ref={heading} tabIndex={-1}>
        {t('Sign in')}
      </h1>
      {note && <p role="status">{note}</p>}
      <p>{t('Manage your agents, follow their runs and approve what they do.')}</p>
      {widget && <Widget username={widget} />}
      {url && (
        <p>
          <a class={widget ? 'button' : 'button primary'} href={url} target="_blank" rel="noopener noreferrer">
            {t('Open in Telegram')}
          </a>
        </p>
      )}
      {localSignIn && <Locally />}
      {hasPasskeys && <WithPasskey />}
      {bot !== 'asking' && !bot && !localSignIn && (
        <p>{t('Telegram can’t be reached right now. Reload this page in a minute.')}</p>
      )}
    </main>
  )
}
