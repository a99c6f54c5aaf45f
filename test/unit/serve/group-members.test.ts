import { describe, expect, test } from 'bun:test'
import { isGroupOf, type GroupFiles } from '../../../src/server/folder/groups.ts'

const files: GroupFiles = {
  group: 'root:x:0:\nada:x:1000:\nstaff:x:50:ada,bob\nown:x:60:ada\nodd:x:70:ada,gone\n',
  passwd:
    'root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:\nbob:x:1001:80::/home/bob:\n' +
    'eve:x:1002:1000\n',
  nsswitch: 'passwd: files\ngroup:          files systemd [SUCCESS=merge] compat # local\n',
}
const withoutEve = { ...files, passwd: files.passwd.replace(/eve.*\n/, '') }

describe('a group', () => {
  test.each<[string, number, GroupFiles, boolean]>([
    ['of a user that it is named after', 1000, withoutEve, true],
    ['which is the first of another user too', 1000, files, false],
    ['with another member', 50, files, false],
    ['with that user as its only member', 60, files, true],
    ['with a member whom no file knows', 70, files, false],
    ['which is the first of another user alone', 80, files, false],
    ['that no file names', 2000, files, true],
    ['where groups come from elsewhere', 60, { ...files, nsswitch: 'group: files sss' }, false],
    ['where users do', 60, { ...files, nsswitch: 'group: files\npasswd: files sss' }, false],
    ['where their groups do', 60, { ...files, nsswitch: 'initgroups: files [x=y] ldap' }, false],
    ['where a file takes in others', 60, { ...files, group: `${files.group}+:::\n` }, false],
    ['where the other does', 60, { ...files, passwd: `${files.passwd}+@team::::::\n` }, false],
    ['on a system without these files', 60, { group: '', passwd: '', nsswitch: '' }, true],
    ['with root as the other member', 90, { ...files, group: 'w:x:90:root,ada' }, true],
  ])('%s', (_, gid, given, isAlone) => {
    expect(isGroupOf(gid, 1000, given)).toBe(isAlone)
  })
})
