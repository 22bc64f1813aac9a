// SPDX-License-Identifier: GPL-2.0

// web serve ADDRESS | get URL
//
// An HTTP server and a client as the compiler of Go makes them: static, with system calls of
// their own. The client gets a megabyte ten times over one connection, and ends with its
// standard input.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

const size = 1 << 20

func serve(address string) error {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	body := bytes.Repeat([]byte("smc "), size/4)
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(body)
	}))
}

func get(url string) error {
	var total int64
	for i := 0; i < 10; i++ {
		answer, err := http.Get(url)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		total += n
	}
	fmt.Println("moved", total)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func main() {
	do := map[string]func(string) error{"serve": serve, "get": get}
	if len(os.Args) != 3 || do[os.Args[1]] == nil {
		log.Fatal("usage: web serve ADDRESS | get URL")
	}
	if err := do[os.Args[1]](os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
