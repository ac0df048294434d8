import { useState } from 'preact/hooks'
import { safeUrl } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, usePages } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { identity, isAdmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'

type Account = Schemas['MessengerAccount']
export type MessengerChat = Schemas['MessengerChat']

const ConnectBot = ({ onClose }: { onClose: () => void }) => {
  const [token, setToken] = useState('')
  const [takeOver, setTakeOver] = useState(false)
  const send = async (): Promise<void> => {
    const body = { token: token.trim(), take_over: takeOver }
    await unwrap(api.POST('/console/messenger/accounts/bot', { body }))
    setToken('')
    announce(t('Bot connected.'))
    await refresh('messages')
  }
  return (
    <Modal title={t('Connect a bot')} onClose={onClose}>
      <Form verb={t('Connect')} send={send} done={onClose}>
        {(failure) => (
          <>
            <TextField
              label={t('Bot token')}
              hint={t('Get it from @BotFather. We store it encrypted and never show it again.')}
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
              <span>
                {t('Connect it even if another service receives its messages. That service will stop receiving them.')}
              </span>
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
    setAccount(await unwrap(api.POST('/console/messenger/accounts/user', { body: { shared } })))
    await refresh('messages')
  }
  const address = safeUrl(account?.connect?.url)
  return (
    <Modal title={t('Connect your own account')} onClose={onClose}>
      {account ? (
        <>
          {account.connect ? (
            <ol>
              <li>
                {t(
                  'In Telegram, open Settings > Telegram Business > Chatbots. Telegram Business requires Telegram Premium.',
                )}
              </li>
              <li>{t('Enter @{username} and add it as your chatbot.', { username: account.connect.username })}</li>
              <li>{t('Choose the chats it can access, and allow it to reply to messages.')}</li>
            </ol>
          ) : (
            <p>{t('Your account is connected.')}</p>
          )}
          <div class="actions">
            {address && (
              <a class="button primary" href={address} target="_blank" rel="noopener noreferrer">
                {t('Open Telegram')}
              </a>
            )}
            <button type="button" onClick={onClose}>
              {t('Done')}
            </button>
          </div>
        </>
      ) : (
        <Form verb={t('Continue')} send={send}>
          <p>{t('Connect through Telegram Business. Only you can see your threads unless you share them.')}</p>
          <label class="tick">
            <input type="checkbox" checked={shared} onChange={(event) => setShared(event.currentTarget.checked)} />
            <span>{t('Let everyone in this workspace see and reply to these threads')}</span>
          </label>
        </Form>
      )}
    </Modal>
  )
}

const STATUS: Record<Account['status'], string> = {
  pending: t('Continue in Telegram'),
  connecting: t('Connecting'),
  active: t('Connected'),
  disconnected: t('Disconnected'),
}

const AccountRow = ({ account }: { account: Account }) => {
  const { failure, act } = useAction()
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
            {account.kind === 'bot' ? t('Bot') : t('Personal account')}
            {account.username && (
              <>
                {' '}
                · @<Name>{account.username}</Name>
              </>
            )}
            {account.kind === 'user' && (account.shared ? t(' · shared') : t(' · private'))}
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
                await unwrap(api.PATCH('/console/messenger/accounts/{id}', { params: { path }, body }))
                await refresh('messages')
              })
            }
          >
            {account.shared ? t('Stop sharing') : t('Share')}
          </button>
        )}
        {(isAdmin.value || mine) && (
          <Confirm
            quiet
            label={rich('Disconnect{name}', { name: <span class="unseen"> {account.name}</span> })}
            title={t('Disconnect {name}?', { name: account.name })}
            verb={t('Disconnect')}
            act={async () => {
              await unwrap(api.DELETE('/console/messenger/accounts/{id}', { params: { path } }))
              await refresh('messages')
            }}
          >
            <p>
              {t('Sending stops, drafts are discarded and its threads are removed here. Nothing changes in Telegram.')}
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
    unwrap(api.GET('/console/messenger/chats', { params: { query: cursor ? { cursor } : {} } })),
  )
  const accounts = usePages<Account>('messages messenger accounts', (cursor) =>
    unwrap(api.GET('/console/messenger/accounts', { params: { query: cursor ? { cursor } : {} } })),
  )
  const close = () => setConnecting(undefined)
  return (
    <Screen title={t('Messenger')}>
      {connecting === 'bot' && <ConnectBot onClose={close} />}
      {connecting === 'own' && <ConnectOwn onClose={close} />}
      <p class="soft">
        {t(
          'Telegram threads of this workspace’s bots and people. Replies from agents stay drafts until someone approves them.',
        )}
      </p>
      <Shown known={chats} rows={4}>
        {({ items }) =>
          items.length === 0 && !chats.more ? (
            <Empty icon="messenger" title={t('No threads yet')}>
              <p>{t('A thread appears when someone sends a message to a connected account.')}</p>
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
          <h2 id="accounts">{t('Accounts')}</h2>
          <div class="actions">
            {isAdmin.value && (
              <button type="button" onClick={() => setConnecting('bot')}>
                {t('Connect a bot')}
              </button>
            )}
            <button type="button" onClick={() => setConnecting('own')}>
              {t('Connect your account')}
            </button>
          </div>
        </div>
        <Shown known={accounts} rows={1}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty icon="messenger" title={t('No accounts connected')} />
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
