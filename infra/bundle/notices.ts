export { NOTICES, noticesOf, packagesOf } from '#web/built/notices.ts'
