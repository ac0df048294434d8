export { OutgoingMailEntity } from './entity.ts'
export { nameInMail, unlink } from './foreign-text.ts'
export { handleOverdueMail, newMail, requireMail, sendMail } from './send.ts'
