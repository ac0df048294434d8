import { useEffect, useRef, useState } from 'preact/hooks'
import { at, localSignIn } from '../../session/config.ts'
import { lastName } from '../../session/session.ts'
import { addWidget, botInfo, signInLocally, widgetOf } from '../../session/sign-in.ts'
import { webAddress } from '../../session/text.ts'
import type { BotInfo } from '../../session/types.ts'
import { Form, TextField } from '../../ui/form.tsx'
import { enterWith, keepPlace, WIDGET_PLACE } from './account.ts'

const Widget = ({ username }: { username: string }) => {
  const parent = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!parent.current) return
    keepPlace()
    addWidget(parent.current, username, at('app'), WIDGET_PLACE)
  }, [username])
  return <div class="widget" ref={parent} />
}

const Locally = () => {
  const [user, setUser] = useState(lastName() ?? 'local-user')
  const [workspace, setWorkspace] = useState('')
  return (
    <Form verb="Sign in" send={async () => enterWith(await signInLocally(user.trim(), workspace.trim()))}>
      <p class="hint">Local development: the same names are the same person and the same workspace.</p>
      <TextField label="Person" value={user} required maxLength={100} autocomplete="off" onText={setUser} />
      <TextField
        label="Workspace"
        hint="Empty: the person’s own. A workspace’s id works too."
        value={workspace}
        maxLength={100}
        autocomplete="off"
        onText={setWorkspace}
      />
    </Form>
  )
}

/** The ways to say who one is, and why the page asks. */
export const SignIn = ({ note }: { note: string }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  const [bot, setBot] = useState<BotInfo | 'asking' | undefined>('asking')
  useEffect(() => {
    document.title = 'Sign in · Console'
    heading.current?.focus({ preventScroll: true })
    botInfo().then(setBot)
  }, [])
  const known = bot === 'asking' ? undefined : bot
  const url = webAddress(known?.url)
  const widget = widgetOf(known)
  return (
    <main class="alone">
      <h1 ref={heading} tabIndex={-1}>
        Sign in
      </h1>
      {note && <p role="status">{note}</p>}
      <p>Your agents, their runs and what waits for your word.</p>
      {widget && <Widget username={widget} />}
      {url && (
        <p>
          <a class={widget ? 'button' : 'button primary'} href={url} target="_blank" rel="noopener noreferrer">
            Open in Telegram
          </a>
        </p>
      )}
      {localSignIn && <Locally />}
      {bot !== 'asking' && !bot && !localSignIn && (
        <p>The messaging app cannot be reached at the moment. Load this page again in a minute.</p>
      )}
    </main>
  )
}
