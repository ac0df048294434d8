import { useEffect, useRef, useState } from 'preact/hooks'
import { usePages } from '../../../ui/data.ts'
import { setFilter } from '../../../ui/filters.tsx'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Shown } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { type Message, Messages } from './messages.tsx'
import { plainText } from './plain-text.ts'

type Conversation = Schemas['PersonConversation']

const Found = ({ id, q, onShow }: { id: string; q: string; onShow: () => void }) => {
  const found = usePages<Message>(`messages search ${id} ${q}`, (cursor) =>
    unwrap(
      api.GET('/console/conversations/{id}/messages', {
        params: { path: { id }, query: { q, ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <>
      <Shown known={found} rows={3}>
        {({ items }) =>
          items.length > 0 ? (
            <Messages
              items={items}
              after={(message) => (
                <p>
                  <button
                    type="button"
                    class="quiet small"
                    onClick={() => {
                      onShow()
                      setFilter('message', message.id)
                    }}
                  >
                    {t('Show in conversation')}
                  </button>
                </p>
              )}
            />
          ) : (
            <Empty title={found.more ? t('No match in the latest 2,000 messages') : t('No message matches')} />
          )
        }
      </Shown>
      <More more={found.more} />
    </>
  )
}

/** Search in one conversation, in place of its messages. */
export const MessageSearch = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const [text, setText] = useState('')
  const [q, setQ] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <search>
      <form
        class="message-search"
        onSubmit={(event) => {
          event.preventDefault()
          setQ(text.trim())
        }}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      >
        <label class="unseen" for="find-message">
          {t('Search in this conversation')}
        </label>
        <input
          ref={field}
          id="find-message"
          type="search"
          placeholder={t('Search in this conversation')}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit" class="primary">
          {t('Search')}
        </button>
        <button type="button" onClick={onClose}>
          {t('Close')}
        </button>
      </form>
      {q && <Found id={id} q={q} onShow={onClose} />}
    </search>
  )
}

/** Time without a key after which the search begins. */
const PAUSE_MS = 400

interface Search {
  q: string
  /** Conversations that the list shows already. */
  shown: ReadonlySet<string>
  nameOf: (conversation: Conversation) => string
}

/** Conversations with a matching message, below those whose name or latest message matches. */
export const FoundConversations = (search: Search) => {
  const { q } = search
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(q), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [q])
  return settled.length < 2 ? null : <Results key={settled} {...search} q={settled} />
}

const Results = ({ q, shown, nameOf }: Search) => {
  const found = usePages<Conversation>(`messages found ${q}`, (cursor) =>
    unwrap(api.GET('/console/conversations', { params: { query: { q, ...(cursor && { cursor }) } } })),
  )
  const further = (found.items ?? []).filter(({ id }) => !shown.has(id))
  if (found.items && further.length === 0 && !found.more) return null
  return (
    <section aria-labelledby="found-messages">
      <h2 id="found-messages">{t('In messages')}</h2>
      <Shown known={found} rows={2}>
        {() => (
          <ul class="rows">
            {further.map((one) => (
              <li key={one.id}>
                <a class="row" href={`#/chat/${one.id}?message=${one.match?.message_id}`}>
                  <span class="grow">
                    <strong class="line">
                      <Name>{nameOf(one)}</Name>
                    </strong>
                    <span class="soft line">
                      <Name>{plainText(one.match?.text ?? '')}</Name>
                    </span>
                  </span>
                  <span class="soft">{one.match && <When at={one.match.created_at} />}</span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <More more={found.more} />
    </section>
  )
}
