import { useState } from 'preact/hooks'
import { refresh, useData } from '../../../../ui/data.ts'
import { Form, TextField } from '../../../../ui/form.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Name, Prose, When } from '../../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../../api.ts'

type Message = Schemas['ModeratedAppMessage']

/** Messages loaded at a time. */
const STEP = 20

const read = async (id: string, limit: number) =>
  unwrap(api.GET('/admin/apps/{id}/messages', { params: { path: { id }, query: { limit, offset: 0 } } }))

const MessageView = ({ message: { author, text, created_at } }: { message: Message }) => (
  <li class={author.type === 'moderator' ? 'message mine' : 'message'}>
    <p class="by">
      <b>
        <Name>{author.name}</Name>
      </b>
      {author.type}
      <When at={created_at} />
    </p>
    <Prose text={text} />
  </li>
)

/** Messages between moderation and the app's developer. */
export const Messages = ({ app, waitsFor }: { app: string; waitsFor: Schemas['AppDossier']['waits_for'] }) => {
  const [limit, setLimit] = useState(STEP)
  const [text, setText] = useState('')
  const known = useData(`app ${app} messages ${limit}`, () => read(app, limit))
  return (
    <section class="section">
      <h2>Messages</h2>
      {waitsFor && (
        <p class="soft">
          {waitsFor === 'moderator' ? 'The developer is waiting for a reply.' : 'Waiting for the developer’s reply.'}
        </p>
      )}
      <Shown known={known} rows={2}>
        {({ items, total }) => (
          <>
            {total > items.length && limit < 100 && (
              <button type="button" class="quiet" onClick={() => setLimit(Math.min(100, limit + 4 * STEP))}>
                Show earlier messages
              </button>
            )}
            <ol class="messages">
              {[...items].reverse().map((message) => (
                <MessageView key={message.id} message={message} />
              ))}
            </ol>
          </>
        )}
      </Shown>
      <Form
        verb="Send"
        disabled={text.trim() === ''}
        send={async () => {
          await unwrap(
            api.POST('/admin/apps/{id}/messages', { params: { path: { id: app } }, body: { text: text.trim() } }),
          )
          setText('')
          await refresh('app ')
        }}
      >
        <TextField
          label="Message to the developer"
          hint="Shown to them as from “Moderation”."
          rows={3}
          maxLength={4_000}
          value={text}
          onText={setText}
        />
      </Form>
    </section>
  )
}
