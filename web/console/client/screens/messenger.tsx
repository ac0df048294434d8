import { useState } from 'preact/hooks'
import { webAddress } from '../../../session/text.ts'
import { useAct } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { identity, isAdmin } from '../account.ts'
import { api, type Schemas, take } from '../api.ts'

type Account = Schemas['MessengerAccount']
export type MessengerChat = Schemas['MessengerChat']

const ConnectBot = ({ onClose }: { onClose: () => void }) => {
  const [token, setToken] = useState('')
  const [takeOver, setTakeOver] = useState(false)
  const send = async (): Promise<void> => {
    const body = { token: token.trim(), take_over: takeOver }
    await take(api.POST('/console/messenger/accounts/bot', { body }))
    setToken('')
    announce('The bot is connected.')
    await refresh('messages')
  }
  return (
    <Modal title="Connect a bot" onClose={onClose}>
      <Form verb="Connect" send={send} done={onClose}>
        {(failure) => (
          <>
            <TextField
              label="The bot’s token"
              hint="From @BotFather. It is kept encrypted and never shown again."
              problem={fieldProblems(failure).token}
              type="password"
              required
              autocomplete="off"
              value={token}
              onText={setToken}
            />
            <label class="tick">
              <input
                type="checkbox"
                checked={takeOver}
                onChange={(event) => setTakeOver(event.currentTarget.checked)}
              />
              <span>Also when it sends its messages elsewhere now: that place then gets none any more</span>
            </label>
          </>
        )}
      </Form>
    </Modal>
  )
}

const ConnectOwn = ({ onClose }: { onClose: () => void }) => {
  const [shared, setShared] = useState(false)
  const [account, setAccount] = useState<Account>()
  const send = async (): Promise<void> => {
    setAccount(await take(api.POST('/console/messenger/accounts/user', { body: { shared } })))
    await refresh('messages')
  }
  const address = webAddress(account?.connect?.url)
  return (
    <Modal title="Connect your own account" onClose={onClose}>
      {account ? (
        <>
          {account.connect ? (
            <ol>
              {account.connect.steps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
          ) : (
            <p>It is connected.</p>
          )}
          <div class="actions">
            {address && (
              <a class="button primary" href={address} target="_blank" rel="noopener noreferrer">
                Open Telegram
              </a>
            )}
            <button type="button" onClick={onClose}>
              Done
            </button>
          </div>
        </>
      ) : (
        <Form verb="Go on" send={send}>
          <p>Through Telegram Business. Its chats are yours alone, unless you share them.</p>
          <label class="tick">
            <input type="checkbox" checked={shared} onChange={(event) => setShared(event.currentTarget.checked)} />
            <span>Let everybody in this workspace see and answer its chats</span>
          </label>
        </Form>
      )}
    </Modal>
  )
}

const STATUS: Record<Account['status'], string> = {
  pending: 'Waits for you in Telegram',
  connecting: 'Connecting',
  active: 'Connected',
  disconnected: 'Disconnected',
}

const AccountRow = ({ account }: { account: Account }) => {
  const { failure, act } = useAct()
  const mine = account.user_id === identity.value?.user.id
  const path = { id: account.id }
  return (
    <li>
      <div class="row folds">
        <span class="grow">
          <strong>
            <Name>{account.name}</Name>
          </strong>
          <span class="soft">
            {account.kind === 'bot' ? 'Bot' : 'Personal account'}
            {account.username && (
              <>
                {' '}
                · @<Name>{account.username}</Name>
              </>
            )}
            {account.kind === 'user' && (account.shared ? ' · shared' : ' · yours alone')}
          </span>
        </span>
        <State name={account.status === 'disconnected' ? 'failed' : account.status} label={STATUS[account.status]} />
        {mine && account.kind === 'user' && (
          <button
            type="button"
            class="quiet"
            onClick={() =>
              act(async () => {
                const body = { shared: !account.shared }
                await take(api.PATCH('/console/messenger/accounts/{id}', { params: { path }, body }))
                await refresh('messages')
              })
            }
          >
            {account.shared ? 'Share no longer' : 'Share'}
          </button>
        )}
        {(isAdmin.value || mine) && (
          <Confirm
            quiet
            label={
              <>
                Disconnect<span class="unseen"> {account.name}</span>
              </>
            }
            title={`Disconnect ${account.name}?`}
            verb="Disconnect"
            act={async () => {
              await take(api.DELETE('/console/messenger/accounts/{id}', { params: { path } }))
              await refresh('messages')
            }}
          >
            <p>
              Nothing is sent any more, drafts are dropped, and its chats are removed here. In Telegram everything
              stays.
            </p>
          </Confirm>
        )}
      </div>
      {failure && <Problem failure={failure} />}
    </li>
  )
}

export default function Messenger() {
  const [connecting, setConnecting] = useState<'bot' | 'own'>()
  const chats = usePages<MessengerChat>('messages messenger chats', (cursor) =>
    take(api.GET('/console/messenger/chats', { params: { query: cursor ? { cursor } : {} } })),
  )
  const accounts = usePages<Account>('messages messenger accounts', (cursor) =>
    take(api.GET('/console/messenger/accounts', { params: { query: cursor ? { cursor } : {} } })),
  )
  const close = () => setConnecting(undefined)
  return (
    <Screen title="Messenger">
      {connecting === 'bot' && <ConnectBot onClose={close} />}
      {connecting === 'own' && <ConnectOwn onClose={close} />}
      <p class="soft">
        Chats of the workspace’s bots and people. What an agent writes there is a draft until somebody approves it.
      </p>
      <Shown known={chats} rows={4}>
        {({ items }) =>
          items.length === 0 && !chats.more ? (
            <Empty title="Nobody has written yet.">
              <p>A chat begins with the first message that somebody writes to a connected account.</p>
            </Empty>
          ) : (
            <ul class="rows">
              {items.map((chat) => (
                <li key={chat.id}>
                  <a class="row" href={`#/messenger/${chat.id}`}>
                    <span class="grow">
                      <strong>
                        <Name>{chat.title}</Name>
                      </strong>
                      {chat.last_message && (
                        <span class="soft line">
                          {chat.last_message.direction === 'out' && '→ '}
                          <Name>{chat.last_message.text}</Name>
                        </span>
                      )}
                    </span>
                    <span class="soft">
                      <When at={chat.last_message_at} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={chats.more} />
      <section class="section" aria-labelledby="accounts">
        <div class="head">
          <h2 id="accounts">Accounts</h2>
          <div class="actions">
            {isAdmin.value && (
              <button type="button" onClick={() => setConnecting('bot')}>
                Connect a bot
              </button>
            )}
            <button type="button" onClick={() => setConnecting('own')}>
              Connect your own
            </button>
          </div>
        </div>
        <Shown known={accounts} rows={1}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No account is connected." />
            ) : (
              <ul class="rows">
                {items.map((account) => (
                  <AccountRow key={account.id} account={account} />
                ))}
              </ul>
            )
          }
        </Shown>
        <More more={accounts.more} />
      </section>
    </Screen>
  )
}
