import type { BotUser } from '../chats.ts'
import { escapeHtml, type Page, renderPage } from './render.ts'
import { script } from './script.ts'

/** Builds the page of a bot. Messages arrive later and are set as text. */
export const messengerPage = ({ username, first_name }: BotUser): Page =>
  renderPage({
    title: `@${username}`,
    bar: `<h1>${escapeHtml(first_name)} <span class="soft">@${escapeHtml(username)}</span></h1>
<p id="me" hidden><span id="person"></span> <button id="change" type="button">Switch person</button></p>`,
    script,
    main: `<section id="who" hidden aria-labelledby="who-title">
<h2 id="who-title">Who are you?</h2>
<p class="soft">The same name means the same person, even after a restart.</p>
<form id="who-form">
<label for="name">Name</label>
<input id="name" autocomplete="off" required maxlength="64">
<button class="primary" type="submit">Continue</button>
</form>
<div id="known" hidden>
<p class="soft" id="known-title">Recent people</p>
<ul id="names" aria-labelledby="known-title"></ul>
</div>
</section>
<section id="chat" hidden aria-label="Chat">
<div id="log" role="log" aria-label="Messages"><ol id="messages"></ol></div>
<p id="empty" class="soft">No messages yet.</p>
<p id="toast" role="status"></p>
<button id="start" class="primary" type="button" hidden>Start</button>
<p id="replying" hidden>Reply to: <span id="reply-text"></span> <button id="no-reply" type="button">Cancel</button></p>
<form id="write">
<label for="text" class="unseen">Message</label>
<input id="text" autocomplete="off" maxlength="4096" placeholder="Message">
<button type="submit">Send</button>
</form>
</section>`,
  })
