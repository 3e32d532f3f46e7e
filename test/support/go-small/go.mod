module toolmgr.dev/test/small

go 1.24
